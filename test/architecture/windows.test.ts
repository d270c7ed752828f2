/** Nothing that the CLI starts needs a POSIX shell, `cat`, or /dev/stdin on Windows. Windows itself runs nowhere here: its name is faked. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { findProgram } from '../../deploy/project/project-tool.ts'
import { toStart } from '../../deploy/run/program.ts'
import { lookUp, requireLogin, runStep } from '../../deploy/targets/deploy-tool.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const sources = ['deploy', 'adapters'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file)),
)
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** Programs that are started by a name in the source, and why Windows does not need them. */
const NAMED: { readonly [file: string]: { readonly [program: string]: string } } = {
  'deploy/build/watch.ts': { ps: 'not called on Windows' },
  'deploy/run/process-group.ts': { taskkill: 'a program of Windows' },
  'deploy/targets/deploy-tool.ts': { sh: 'not called on Windows' },
  'adapters/_stdio/after-death.ts': { '/bin/sh': 'the CLI does not call it on Windows' },
}

describe('the sources of the CLI', () => {
  test('start no other program by its name', () => {
    const found: Record<string, string[]> = {}
    for (const file of sources.filter((one) => read(one).includes("'node:child_process'"))) {
      const calls = read(file).matchAll(/\b(?:spawn|exec|execFile|fork)(?:Sync)?\(\s*['"`]([^'"`]+)/g)
      const programs = [...calls].map(([, program]) => program!)
      if (programs.length > 0) found[file] = programs
    }
    const listed = Object.entries(NAMED).map(([file, programs]) => [file, Object.keys(programs)])
    expect(found).toEqual(Object.fromEntries(listed))
    for (const file of ['deploy/build/watch.ts', 'deploy/targets/deploy-tool.ts', 'deploy/run/ending.ts'])
      expect(read(file)).toContain("process.platform === 'win32'")
  })

  test('name /dev/stdin only in the arguments of a step of a deployment', () => {
    const named = sources.filter((file) => read(file).includes("/dev/stdin'"))
    expect(named.filter((file) => !/^deploy\/targets\/\w+\/(?:target|secrets)\.ts$/.test(file))).toEqual([
      'deploy/targets/deploy-tool.ts',
    ])
  })
})

describe('on Windows', () => {
  afterEach(() => void vi.unstubAllEnvs())

  function arrange(): string {
    const folder = mkdtempSync(join(tmpdir(), 'mayfly-windows-'))
    const { platform } = process
    Object.defineProperty(process, 'platform', { value: 'win32' })
    onTestFinished(() => {
      Object.defineProperty(process, 'platform', { value: platform })
      rmSync(folder, { recursive: true, force: true })
    })
    return folder
  }

  /** Without the right to execute: nothing reads its first line. */
  function writeScript(folder: string, text: string): string {
    const file = join(folder, 'tool.js')
    writeFileSync(file, text)
    chmodSync(file, 0o600)
    return file
  }

  test.each(['%s', 'file://%s'])(
    'a tool that reads secrets from /dev/stdin, as in %j, gets a file that is gone afterwards, without a shell',
    async (form) => {
      const folder = arrange()
      const seen = join(folder, 'seen.json')
      const tool = writeScript(
        folder,
        `const fs = require('node:fs')
const path = process.argv.at(-1).replace('file://', '')
fs.writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ path, text: fs.readFileSync(path, 'utf8') }))`,
      )
      vi.stubEnv('PATH', join(folder, 'nothing'))
      const args = ['--secrets', form.replace('%s', '/dev/stdin')]

      const { code } = await runStep({ title: '', args, cwd: folder, stdin: '{"A":"of-many"}' }, tool)

      expect(code).toBe(0)
      const { path, text } = JSON.parse(readFileSync(seen, 'utf8')) as { path: string; text: string }
      expect(text).toBe('{"A":"of-many"}')
      expect(path).not.toContain('/dev/')
      expect(existsSync(path)).toBe(false)
    },
  )

  test('a tool that reads its stdin gets it, and one that only prints is read', async () => {
    const folder = arrange()
    vi.stubEnv('PATH', join(folder, 'nothing'))
    const echo = "process.stdin.on('data', (text) => process.stdout.write(text + process.argv.at(-1)))"
    const tool = writeScript(folder, echo)
    const step = { title: '', args: ['said'], cwd: folder, stdin: 'hidden', tells: 'stdout' as const }
    expect(await runStep(step, tool)).toMatchObject({ code: 0, told: 'hiddensaid' })
    const printing = writeScript(folder, "console.log('found ' + process.argv[2])")
    expect(await lookUp({ title: '', args: ['it'], cwd: folder }, printing)).toBe('found it')
    const deployment = { tool: { whoami: ['x'], token: 'NO_SUCH_TOKEN' }, steps: [] }
    await requireLogin(printing, deployment as never, folder)
  })

  test('a program is found by PATHEXT, in its order, and nothing else of its name', () => {
    const folder = arrange()
    const [first, second] = ['a', 'b'].map((name) => join(folder, name)) as [string, string]
    for (const one of [first, second]) mkdirSync(one)
    for (const file of ['sam', 'sam.cmd', 'aws.txt']) writeFileSync(join(first, file), '')
    for (const file of ['sam.exe', 'aws.exe']) writeFileSync(join(second, file), '')
    vi.stubEnv('PATH', `${first}:${second}`)
    vi.stubEnv('PATHEXT', '.COM;.EXE;.BAT;.CMD')
    expect(findProgram('sam')).toBe(join(first, 'sam.cmd'))
    expect(findProgram('aws')).toBe(join(second, 'aws.exe'))
    vi.stubEnv('PATHEXT', undefined)
    expect(findProgram('aws')).toBe(join(second, 'aws.exe'))
    expect(findProgram('gcloud')).toBeUndefined()
  })

  test('scripts are run by this Node, .cmd files by cmd.exe, other programs by themselves', () => {
    const started = (program: string, ...args: string[]) => toStart(program, args, 'win32')
    for (const script of ['C:\\a b\\vc.js', 'C:\\run.mjs', 'C:\\bin.CJS'])
      expect(started(script, 'x')).toEqual({ command: process.execPath, args: [script, 'x'] })
    expect(started('C:\\deno.exe', 'x y')).toEqual({ command: 'C:\\deno.exe', args: ['x y'] })
    const { command, args, windowsVerbatimArguments } = started(
      'C:\\my tools\\sam.cmd',
      'a b',
      'c&d',
      '%PATH%',
    )
    expect([command, windowsVerbatimArguments]).toEqual(['cmd.exe', true])
    expect(args.slice(0, 3)).toEqual(['/d', '/s', '/c'])
    expect(args[3]).toBe('"C:\\my^ tools\\sam.cmd ^^^"a^^^ b^^^" ^^^"c^^^&d^^^" ^^^"^^^%PATH^^^%^^^""')
    expect(toStart('/usr/bin/sam.cmd', ['a'], 'linux')).toEqual({ command: '/usr/bin/sam.cmd', args: ['a'] })
  })

  test.each([
    ['say "hi"', '\\"hi\\"'],
    ['ends in \\', 'in \\\\'],
    ['\\"', '\\\\\\"'],
  ])('%j stays one argument', (arg, expected) => {
    const line = toStart('a.cmd', [arg], 'win32').args[3]!
    expect(line.replaceAll('^', '')).toContain(expected)
    // Every character that cmd.exe would act on is escaped, twice.
    expect(
      line
        .slice(1, -1)
        .replaceAll(/\^\^\^[^^]/g, '')
        .replace('a.cmd ', ''),
    ).not.toMatch(/["&|<>%]/)
  })
})

test('elsewhere the tool is started as it is', () => {
  const tool = toStart(process.execPath, ['-p', '1'])
  expect(execFileSync(tool.command, [...tool.args], { encoding: 'utf8' })).toBe('1\n')
})
