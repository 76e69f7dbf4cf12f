import { GLOBAL_OPTIONS, type Option } from '../arguments.ts'
import type { Command } from '../command.ts'
import { EXIT, usageFailure } from '../failure.ts'
import { writeLine } from '../terminal/output.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

const optionsOf = ({ options }: Command): [string, Option][] =>
  Object.entries({ ...options, ...GLOBAL_OPTIONS })

/** For a text between single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const bash = (commands: readonly Command[]): string => {
  const cases = commands.flatMap((command) => {
    const words = [...(command.words ?? []), ...optionsOf(command).map(([name]) => `--${name}`)]
    const choices = optionsOf(command).flatMap(([name, { choices: given }]) =>
      given ? [`    ${command.name}:--${name}) words='${given.join(' ')}' ;;`] : [],
    )
    return [...choices, `    ${command.name}:*) words='${words.join(' ')}' ;;`]
  })
  return [
    '_perigee() {',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell.
    '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=',
    '  COMPREPLY=()',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words='${commands.map(({ name }) => name).join(' ')} help --version'`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell.
    '  else case "${COMP_WORDS[1]}:$before" in',
    ...cases,
    '  esac; fi',
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    '}',
    'complete -o default -F _perigee perigee',
  ].join('\n')
}

/** Descriptions of zsh end at a colon or a bracket. */
const described = (text: string): string => text.replaceAll(/[[\]:]/g, ' ')

const zshOption = ([name, { about, type, choices, value, multiple }]: [string, Option]): string => {
  const isFile = value === 'FILE'
  const action = choices ? `(${choices.join(' ')})` : isFile ? '_files' : ''
  const argument = type === 'string' ? `:${(value ?? 'text').toLowerCase()}:${action}` : ''
  return quoted(`${multiple ? '*' : ''}--${name}[${described(about)}]${argument}`)
}

const zsh = (commands: readonly Command[]): string =>
  [
    '#compdef perigee',
    '_perigee() {',
    '  local -a commands=(',
    ...commands.map(({ name, summary }) => `    ${quoted(`${name}:${described(summary)}`)}`),
    '  )',
    '  if (( CURRENT == 2 )); then _describe command commands; return; fi',
    '  local command=$words[2]',
    '  shift words; (( CURRENT-- ))',
    '  case $command in',
    ...commands.map((command) => {
      const words = command.words ? ` ':what:(${command.words.join(' ')})'` : ''
      const options = optionsOf(command).map(zshOption).join(' ')
      return `    ${command.name}) _arguments ${options}${words} '*:file:_files' ;;`
    }),
    '  esac',
    '}',
    'if [[ $funcstack[1] == _perigee ]]; then _perigee "$@"; else compdef _perigee perigee; fi',
  ].join('\n')

const fish = (commands: readonly Command[]): string =>
  commands
    .flatMap((command) => {
      const { name, summary, words } = command
      const isThis = `-n ${quoted(`__fish_seen_subcommand_from ${name}`)}`
      return [
        `complete -c perigee -f -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
        ...(words ? [`complete -c perigee ${isThis} -a ${quoted(words.join(' '))}`] : []),
        ...optionsOf(command).map(([option, { type, choices, value, about }]) => {
          const isFile = value === 'FILE'
          const argument = choices ? ` -xa ${quoted(choices.join(' '))}` : isFile ? ' -r' : ' -x'
          return `complete -c perigee ${isThis} -l ${option}${type === 'string' ? argument : ''} -d ${quoted(about)}`
        }),
      ]
    })
    .join('\n')

const SCRIPTS: Record<string, (commands: readonly Command[]) => string> = { bash, zsh, fish }

export const completionOf = (shell: string, commands: readonly Command[]): string | undefined =>
  SCRIPTS[shell]?.(commands)

export const completionCommand = (commands: () => readonly Command[]): Command => ({
  name: 'completion',
  summary: 'Write the completion script of a shell.',
  usage: ['completion bash|zsh|fish'],
  words: SHELLS,
  maxPositionals: 1,
  options: {},
  details: [
    "bash:  echo 'source <(perigee completion bash)' >> ~/.bashrc",
    "zsh:   echo 'source <(perigee completion zsh)' >> ~/.zshrc (after compinit)",
    'fish:  perigee completion fish > ~/.config/fish/completions/perigee.fish',
  ],
  run: async ({ positionals }) => {
    const script = completionOf(positionals[0] ?? '', commands())
    if (script === undefined) throw usageFailure(`Name a shell: ${SHELLS.join(', ')}.`)
    await writeLine(script)
    return EXIT.ok
  },
})
