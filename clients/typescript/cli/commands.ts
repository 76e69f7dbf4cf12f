import type { Command } from './command.ts'
import { completionCommand } from './commands/completion.ts'
import { devices } from './commands/devices.ts'
import { exportAccount } from './commands/export.ts'
import { importFile } from './commands/import.ts'
import { login, logout } from './commands/login.ts'
import { report } from './commands/report.ts'
import { tail } from './commands/tail.ts'
import { track } from './commands/track.ts'

export const COMMANDS: readonly Command[] = [
  login,
  logout,
  devices,
  track,
  report,
  tail,
  importFile,
  exportAccount,
  completionCommand(() => COMMANDS),
]
