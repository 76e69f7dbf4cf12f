#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { PerigeeError } from '../src/index.ts'
import { parseOptions } from './arguments.ts'
import { type Command, generalHelp, helpOf } from './command.ts'
import { COMMANDS } from './commands.ts'
import { EXIT, type ExitCode, Failure, usageFailure } from './failure.ts'
import { explainProblem, openClient } from './session.ts'
import { note, writeLine } from './terminal/output.ts'

const interruption = new AbortController()

/** Of the package: the file is beside `dist/`. */
const version = (): string => {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

const findCommand = (name: string): Command => {
  const found = COMMANDS.find((command) => command.name === name)
  if (found) return found
  const similar = COMMANDS.find((command) => command.name.startsWith(name.slice(0, 2)))
  const hint = similar ? ` Do you mean “${similar.name}”?` : ''
  throw usageFailure(`There is no command “${name}”.${hint} See perigee --help.`)
}

const run = async ([name, ...rest]: string[]): Promise<ExitCode> => {
  if (name === undefined) {
    process.stderr.write(`${generalHelp(COMMANDS)}\n`)
    return EXIT.usage
  }
  if (name === '--version' || name === '-v' || name === 'version') {
    await writeLine(version())
    return EXIT.ok
  }
  if (name === '--help' || name === '-h' || name === 'help') {
    await writeLine(rest[0] ? helpOf(findCommand(rest[0])) : generalHelp(COMMANDS))
    return EXIT.ok
  }
  const command = findCommand(name)
  if (rest.includes('--help') || rest.includes('-h')) {
    await writeLine(helpOf(command))
    return EXIT.ok
  }
  const { values, positionals } = parseOptions(rest, command.options, command.maxPositionals)
  const isJson = values.json === true
  const { signal } = interruption
  return (await command.run({ values, positionals, isJson, signal, open: openClient })) ?? EXIT.ok
}

const FILE_CODES: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file',
  EACCES: 'It may not be read or written',
  EISDIR: 'It is a folder',
  ENOSPC: 'The disk is full',
}

const fileReason = (error: unknown): string | null => {
  const { code = '', path } = error as NodeJS.ErrnoException
  const words = FILE_CODES[code]
  return words && path ? `${words}: ${path}` : null
}

const explain = (error: unknown): Failure => {
  if (error instanceof Failure) return error
  if (error instanceof PerigeeError) return explainProblem(error)
  const file = fileReason(error)
  if (file) return new Failure(file)
  return new Failure(error instanceof Error ? error.message : String(error))
}

const isBrokenPipe = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'EPIPE'

process.stdout.on('error', (error) => {
  // The reader, such as head, has what it wants.
  if (isBrokenPipe(error)) process.exit(EXIT.ok)
})
let interruptions = 0
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    interruptions++
    if (interruptions > 1) process.exit(EXIT.interrupted)
    interruption.abort()
  })
// Nothing waits for an interruption while a question is asked or stdin is read.
interruption.signal.addEventListener('abort', () => {
  setTimeout(() => process.exit(EXIT.interrupted), 2000).unref()
})

try {
  process.exitCode = await run(process.argv.slice(2))
  if (interruption.signal.aborted) process.exitCode = EXIT.interrupted
} catch (error) {
  if (interruption.signal.aborted) process.exitCode = EXIT.interrupted
  else if (!isBrokenPipe(error)) {
    const { message, exitCode, details } = explain(error)
    note(`perigee: ${message}`)
    for (const line of details) note(line)
    process.exitCode = exitCode
  }
}
process.exit()
