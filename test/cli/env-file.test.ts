/** Secrets on their way through a `.env` file: the value that is read is the one that was given, or there is no file. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
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
