/** Secrets on their way through a `.env` file: the value that is read is the one that was given, or there is no file. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { readEnvFiles } from '../../deploy/project/env-files.ts'
import { toEnvFile } from '../../deploy/project/secrets.ts'
import { MayflyProcess, Project } from './_dev-process.ts'

const DENO = fileURLToPath(new URL('../../node_modules/.bin/deno', import.meta.url))

const KEPT = [
  'plain',
  'a b#c',
  `$HOME \${HOME} \`id\``,
  'a\\nb',
  'line 1\nline 2',
  '"quoted"',
  "it's",
  "l'1\nl2",
  'é 漢 🙂',
  '=a=',
]
const REFUSED = ["it's$HOME", "it's`id`", `it's "both"`, "it's \\", 'a\r\nb', 'a\0b', '\\']

// On Node 20 the line became a part of the name.
test('a line without = does not take the variable after it', async () => {
  await using project = new Project()
  project.write('.env', 'FIRST=1\nleft over\nAFTER=2\n  again\r\nexport LAST=3\n')
  const { variables } = readEnvFiles({ cwd: project.folder, entry: join(project.folder, 'server.ts') })
  expect(variables).toMatchObject({ FIRST: '1', AFTER: '2', LAST: '3' })
})

test('Deno reads every value as it was given', async () => {
  await using project = new Project()
  const secrets = new Map(KEPT.map((value, index) => [`SECRET_${index}`, value]))
  project.write('secrets.env', toEnvFile(secrets))
  project.write('show.js', 'console.log(JSON.stringify(Object.entries(Deno.env.toObject())))')
  const shown = execFileSync(DENO, ['run', '--allow-env', '--env-file=secrets.env', 'show.js'], {
    cwd: project.folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: '/root', DENO_NO_UPDATE_CHECK: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const read = new Map(JSON.parse(shown) as [string, string][])
  for (const [name, value] of secrets) expect([name, read.get(name)]).toEqual([name, value])
})

test.for(REFUSED)('%j → an error that names the variable and not the value', (value) => {
  const write = () => toEnvFile(new Map([['API_KEY', value]]))
  expect(write).toThrow('the value of API_KEY cannot be written to a .env file')
  expect(write).not.toThrow(value)
})

test('a .env that is a pipe → one line, and nothing hangs', async () => {
  await using project = new Project()
  execFileSync('mkfifo', ['.env'], { cwd: project.folder })
  project.write('server.ts', `export default { fetch: () => new Response('') }`)
  for (const command of ['doctor', 'build', 'dev --port 0']) {
    const args = [...command.split(' '), '--target', 'node']
    const { code, stdout, stderr } = await new MayflyProcess(args, project.folder).exited
    expect(code).toBe(1)
    expect(stdout + stderr).toContain('cannot read .env: it is not a file\n')
  }
})

const SECRET = 'a-secret-é-of-the-user'
const TEXT = `# for the shop\nAPI_KEY=${SECRET}\n`
const utf16 = (text: string, mark = '\ufeff'): Buffer => Buffer.from(mark + text, 'utf16le')

describe('the encoding of .env', () => {
  test.each([
    ['UTF-8', Buffer.from(TEXT)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${TEXT}`)],
    ['UTF-16 LE with a mark, as PowerShell writes it', utf16(TEXT)],
    ['UTF-16 BE with a mark', utf16(TEXT).swap16()],
    ['Latin-1 in a comment alone', Buffer.concat([Buffer.from('# caf\xe9\n', 'latin1'), Buffer.from(TEXT)])],
  ])('%s → the value is found in a build, and reaches the server', async (_name, bytes) => {
    await using project = new Project()
    project.write('.env', bytes)
    project.write('server.ts', `export default { fetch: () => new Response(${JSON.stringify(SECRET)}) }`)
    const built = await new MayflyProcess(['build', '--target', 'node'], project.folder).exited
    expect([built.code, built.stderr]).toEqual([1, expect.stringContaining('API_KEY')])
    expect(readEnvFiles({ cwd: project.folder, entry: join(project.folder, 'server.ts') }).variables).toEqual(
      {
        API_KEY: SECRET,
      },
    )
  })

  test.each([
    ['a NUL in a value', Buffer.from(TEXT.replace('of', '\0')), ' at API_KEY'],
    ['UTF-16 LE without a mark', utf16(TEXT, ''), ' at API_KEY'],
    ['UTF-16 BE without a mark', utf16(TEXT, '').swap16(), ' at API_KEY'],
    [
      'UTF-32',
      Buffer.concat([
        Buffer.from([0xff, 0xfe, 0, 0]),
        Buffer.from([...TEXT].flatMap((one) => [one.charCodeAt(0), 0, 0, 0])),
      ]),
      ' at API_KEY',
    ],
    ['Latin-1 in a value', Buffer.from(TEXT, 'latin1'), ' at API_KEY'],
    ['half of a character of UTF-16', utf16(`API_KEY=${SECRET}\ud800\n`), ' at API_KEY'],
  ])('%s → one line with file and variable, never the value', async (_name, bytes, at) => {
    await using project = new Project()
    project.write('.env', bytes)
    project.write('server.ts', `export default { fetch: () => new Response('') }`)
    for (const command of [
      'doctor',
      'build',
      'dev --port 0',
      'preview --port 0',
      'stdio',
      'deploy --dry-run',
      'ingest docs',
    ]) {
      const [first = ''] = command.split(' ')
      const target = ['stdio', 'ingest'].includes(first)
        ? []
        : ['--target', first === 'deploy' ? 'vercel' : 'node']
      const store = first === 'ingest' ? ['--store', 'x.json', '--index', 'x', '--model', './x.ts'] : []
      const { code, stdout, stderr } = await new MayflyProcess(
        [...command.split(' '), ...target, ...store],
        project.folder,
      ).exited
      expect([command, code]).toEqual([command, 1])
      expect(stdout + stderr).toContain(
        `cannot read .env${at}: it is neither UTF-8 nor UTF-16 with a byte order mark: save it as UTF-8\n`,
      )
      expect(stdout + stderr).not.toContain('a-s')
      expect(stdout + stderr).not.toContain('    at ')
    }
  })

  test('an editor’s file beside it is not read', async () => {
    await using project = new Project()
    project.write('.env.swp', Buffer.from([0, 1, 2, 255]))
    project.write('server.ts', `export default { fetch: () => new Response('') }`)
    expect((await new MayflyProcess(['build', '--target', 'node'], project.folder).exited).code).toBe(0)
  })

  test('wrangler, which reads the file by itself → refused', async () => {
    await using project = new Project()
    project.write('.env', utf16(TEXT))
    project.write('server.ts', `export default { fetch: () => new Response('') }`)
    const { code, stderr } = await new MayflyProcess(
      ['dev', '--target', 'cloudflare', '--port', '0'],
      project.folder,
    ).exited
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('.env is UTF-16, and wrangler reads the file by itself'),
    ])
  })
})
