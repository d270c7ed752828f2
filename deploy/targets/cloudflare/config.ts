/** The wrangler configuration of the user's project, or a generated minimal one. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTempFolder } from '../../build/work-folder.ts'
import { refusePlanted } from '../../project/owner.ts'

export interface WranglerConfig {
  /** Arguments for wrangler. */
  args: string[]
  /** Removes a generated file; leaves a user's file unchanged. */
  dispose(): void
}

/** In wrangler's own order of preference. */
export const CONFIG_NAMES = ['wrangler.json', 'wrangler.jsonc', 'wrangler.toml']

/** For a project without a configuration. */
export const COMPATIBILITY = {
  compatibility_date: '2026-10-01',
  // Aborts request.signal when the client goes away. No compatibility date turns it on (workerd 1.20261023).
  compatibility_flags: ['enable_request_signal'],
}

/** The project's configuration file, if it has one. Throws `CliError` if another user put it there: it may name commands to run. */
export function findWranglerConfig(cwd: string): string | undefined {
  const found = CONFIG_NAMES.map((name) => join(cwd, name)).find((path) => existsSync(path))
  if (found !== undefined) refusePlanted(found)
  return found
}

export function wranglerConfig(cwd: string): WranglerConfig {
  const own = findWranglerConfig(cwd)
  if (own) return { args: ['--config', own], dispose: () => {} }

  const { folder, dispose } = createTempFolder()
  const file = join(folder, 'wrangler.json')
  writeFileSync(file, JSON.stringify({ name: 'mayfly-dev', ...COMPATIBILITY }))
  return { args: ['--config', file], dispose }
}
