/** `--open`: what is handed to the program that opens a browser. Every user of the machine can read a program's arguments. */
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openInBrowser } from '../../deploy/run/open-browser.ts'
import { Project, until } from './_dev-process.ts'

const URL_WITH_TOKEN =
  'http://127.0.0.1:1234/?token=secret-of-the-page&transport=http#token=secret-of-the-page'

let isTerminal: boolean | undefined
beforeEach(() => {
  isTerminal = process.stderr.isTTY
  process.stderr.isTTY = true
})
afterEach(() => {
  Object.assign(process.stderr, { isTTY: isTerminal })
  vi.unstubAllEnvs()
})

test.skipIf(process.platform !== 'linux')(
  'the argument is a file that only this user reads, which leads to the address; it is removed at the end',
  async () => {
    await using project = new Project()
    const told = join(project.folder, 'told')
    project.write(
      'xdg-open',
      `#!/bin/sh\nprintf '%s\\n' "$@" > '${told}.part' && mv '${told}.part' '${told}'\n`,
    )
    chmodSync(join(project.folder, 'xdg-open'), 0o755)
    vi.stubEnv('PATH', project.folder + delimiter + process.env.PATH)
    const before = new Set(process.listeners('exit'))
    openInBrowser(URL_WITH_TOKEN)
    await until(() => existsSync(told))
    const file = readFileSync(told, 'utf8').trimEnd()
    expect(file).not.toContain('secret-of-the-page')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
    const page = readFileSync(file, 'utf8')
    const [, target = ''] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page) ?? []
    expect(target.replaceAll('&amp;', '&')).toBe(URL_WITH_TOKEN)
    for (const end of process.listeners('exit')) if (!before.has(end)) end.call(process, 0)
    expect(existsSync(dirname(file))).toBe(false)
  },
)
