/** Tools of platforms that hang, print secrets, or end as if nothing had happened. Each target is deployed with a stand-in of its tool. */
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createRedactor, errorIn, redact } from '../../deploy/targets/tool-output.ts'
import { areAlive, MayflyProcess, type Output, Project, stopAll } from './_dev-process.ts'

afterAll(stopAll)

const SECRET = 'q7"x\\f7 c2+a9/é-hidden'
const REF = 'abcdefghijklmnopqrst'

/** The tool that each target runs last, and the variables that name its place. */
const TOOLS: readonly (readonly [target: string, tool: string, env: Record<string, string>])[] = [
  ['cloudflare', 'wrangler', {}],
  ['vercel', 'vercel', { VERCEL_ORG_ID: 'o', VERCEL_PROJECT_ID: 'p' }],
  ['netlify', 'netlify-cli', { NETLIFY_SITE_ID: '3f0e9e8a-1c1b-4a5e-9a56-0c1b7d9f2a10' }],
  ['supabase', 'supabase', { SUPABASE_PROJECT_ID: REF }],
  ['deno', 'deno', { DENO_DEPLOY_APP: 'shop', DENO_DEPLOY_ORG: 'acme' }],
  ['lambda', 'sam', {}],
]

/** Does its other work, and `act` where it uploads. */
function writeTool(project: Project, tool: string, act: string): void {
  const isProgram = tool === 'sam'
  const path = isProgram ? 'bin/sam' : `node_modules/${tool}/cli.cjs`
  mkdirSync(join(project.folder, dirname(path)), { recursive: true })
  const bin = tool === 'netlify-cli' ? { netlify: 'cli.cjs' } : 'cli.cjs'
  if (!isProgram) project.write(`node_modules/${tool}/package.json`, JSON.stringify({ name: tool, bin }))
  project.write(
    path,
    `#!${process.execPath}
const { writeFileSync, readFileSync } = require('node:fs')
const { spawn } = require('node:child_process')
const args = process.argv.slice(2)
if (args.includes('--dry-run')) {
  writeFileSync(args[args.indexOf('--outdir') + 1] + '/server.js', 'export default { fetch: () => new Response("hello") }')
  process.exit(0)
}
if (args[0] === 'check') process.exit(1)
if (process.env.HANGS_AT_LOGIN && args.some((arg) => /whoami|getCurrentUser|projects/.test(arg))) setInterval(() => {}, 1000)
else if (!args.includes('deploy') || args.includes('whoami') || args.includes('env')) {
  if (args.includes('getSite')) console.log('{ "id": "s", "account_slug": "a" }')
  process.exit(0)
} else { ${act} }
`,
  )
  chmodSync(join(project.folder, path), 0o755)
  if (isProgram) {
    project.write(
      'bin/aws',
      `#!/bin/sh\n[ -z "$HANGS_AT_LOGIN" ] || exec sleep 60\ncase "$*" in *get-secret-value*) echo '"{}"' ;; *describe-stacks*-secrets*) echo '["CREATE_COMPLETE", 1]' ;; esac\n`,
    )
    chmodSync(join(project.folder, 'bin/aws'), 0o755)
  }
}

function deploy(
  project: Project,
  [target, tool, named]: (typeof TOOLS)[number],
  act: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): MayflyProcess {
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  writeTool(project, tool, act)
  const all = ['deploy', '--target', target, '--yes', '--no-check', '--secret', 'API_KEY', ...args]
  const path = `${join(project.folder, 'bin')}:${process.env.PATH}`
  const tokens = Object.fromEntries(
    ['CLOUDFLARE_API_TOKEN', 'VERCEL_TOKEN', 'NETLIFY_AUTH_TOKEN', 'SUPABASE_ACCESS_TOKEN'].map((name) => [
      name,
      '',
    ]),
  )
  const more = { ...tokens, DENO_DEPLOY_TOKEN: '', AWS_ACCESS_KEY_ID: '', API_KEY: SECRET, PATH: path }
  return new MayflyProcess(all, project.folder, undefined, { ...more, ...named, ...env })
}

/** What every run promises. */
function expectClean({ stdout, stderr }: Output): void {
  for (const text of [stdout, stderr]) {
    expect(text).not.toContain(SECRET)
    if (text !== '') expect(text.at(-1)).toBe('\n')
  }
}

describe.each(TOOLS)('%s', { timeout: 180_000 }, (target, tool, named) => {
  const row = [target, tool, named] as const

  test('a tool that prints the secret in each form → none is shown', async () => {
    await using project = new Project()
    const act = `
const value = ${JSON.stringify(SECRET)}
const b = Buffer.from(value)
const forms = [value, JSON.stringify({ value }), encodeURIComponent(value), b.toString('base64'), b.toString('base64url'), b.toString('hex'), Buffer.from('user:' + value).toString('base64')]
for (const [at, form] of forms.entries()) (at % 2 ? console.error : console.log)('told', at, form)
process.stdout.write('in two ' + value.slice(0, 9))
setTimeout(() => { process.stdout.write(value.slice(9) + ' parts'); process.exitCode = 3 }, 50)`

    const output = await deploy(project, row, act).exited

    expectClean(output)
    const { code, stdout, stderr } = output
    expect(code, stderr).toBe(3)
    const all = stdout + stderr
    expect(all.match(/told \d/g)).toHaveLength(7)
    const bytes = Buffer.from(SECRET)
    for (const form of ['base64', 'base64url', 'hex'] as const)
      expect(all).not.toContain(bytes.toString(form))
    expect(all).not.toContain(encodeURIComponent(SECRET))
    // The other stream may come between.
    expect(all).toMatch(/in two [\s\S]*\[secret\] parts\n/)
  })

  test('a tool that prints an error and ends with 0 → not deployed, exit code 1', async () => {
    await using project = new Project()
    const act = `console.error('\\x1b[31m✘ \\x1b[41;97m[ERROR]\\x1b[0m it did not work, ' + ${JSON.stringify(SECRET)})
console.log('https://shop.example { "url": "https://shop.example" } https://shop.acme.deno.net')`

    const output = await deploy(project, row, act).exited

    expectClean(output)
    expect(output.code, output.stderr).toBe(1)
    expect(output.stdout).toBe('')
    expect(output.stderr).toMatch(
      /^mayfly: upload [^\n]+ ended with exit code 0, but printed an error, so it is not known to be deployed: ✘ \[ERROR\] it did not work/m,
    )
  })

  test('a tool that hangs → stopped after --timeout, with all that it started', async () => {
    await using project = new Project()
    const act = `process.on('SIGTERM', () => process.exit(0))
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
process.stdout.write('pids ' + process.pid + ' ' + child.pid)
setInterval(() => {}, 1000)`

    const output = await deploy(project, row, act, ['--timeout', '4000']).exited

    expectClean(output)
    expect(output.code, output.stderr).toBe(1)
    expect(output.stderr).toMatch(/^mayfly: upload [^\n]+ did not end within 4 s and was stopped: [^\n]+\n/m)
    const pids = /pids (\d+) (\d+)/
      .exec(output.stderr + output.stdout)!
      .slice(1)
      .map(Number)
    expect(areAlive(pids)).toBe(false)
  })

  test('a login that hangs is not “not logged in”', async () => {
    await using project = new Project()
    const running = deploy(project, row, 'process.exit(0)', ['--timeout', '1500'], { HANGS_AT_LOGIN: '1' })

    const output = await running.exited

    expectClean(output)
    expect(output.code, output.stderr).toBe(1)
    expect(output.stderr).toMatch(
      /^mayfly: \w+ did not answer within 1.5 s whether you are logged in: [^\n]+\n/m,
    )
    expect(output.stderr).not.toContain('you are not logged in')
  })
})

describe('redacting', () => {
  test.each([1, 2, 3, 5, 7, 1000])('in pieces of %i characters, the text is the same', (size) => {
    const text = `a ${SECRET} b ${JSON.stringify(SECRET)} c ${encodeURIComponent(SECRET)} q7"x d`
    const redactor = createRedactor([SECRET])
    let shown = ''
    for (let at = 0; at < text.length; at += size) shown += redactor.push(text.slice(at, at + size))
    shown += redactor.end()
    expect(shown).toBe('a [secret] b "[secret]" c [secret] q7"x d')
  })

  test('a secret that begins with another one is hidden wherever the text breaks', () => {
    const values = ['postgres://db', 'postgres://db/x?password=hunter2hunter2', 'abcd', 'abcde', 'd/x?pa']
    const text = `a ${values[1]} b ${values[0]} c abcd d abcde e postgres://db/x?pass abcd`
    const expected = redact(text, values)
    expect(expected).toBe('a [secret] b [secret] c [secret] d [secret] e [secret]/x?pass [secret]')
    for (let at = 0; at <= text.length; at++)
      for (const next of [at, Math.min(at + 1, text.length), Math.min(at + 9, text.length)]) {
        const redactor = createRedactor(values)
        const parts = [text.slice(0, at), text.slice(at, next), text.slice(next)]
        expect(parts.map((part) => redactor.push(part)).join('') + redactor.end(), `${at}, ${next}`).toBe(
          expected,
        )
      }
  })

  test('a value that a shell or Python has quoted', () => {
    const value = `it's a "p$ss" é\u{1f511}w`
    const quoted = [
      `'${value.replaceAll("'", String.raw`'\''`)}'`,
      `'${value.replaceAll("'", `'"'"'`)}'`,
      `"${value.replaceAll(/["$]/g, String.raw`\$&`)}"`,
      String.raw`"it's a \"p$ss\" \u00e9\ud83d\udd11w"`,
    ]
    for (const text of quoted) expect(redact(`a ${text} b`, [value])).toMatch(/^a ["']\[secret\]["'] b$/)
  })

  test.each([
    ['in HTML', 'p&amp;q&lt;r&gt;&quot;s&#39;t/u v'],
    ['in HTML, by Python', 'p&amp;q&lt;r&gt;&quot;s&#x27;t/u v'],
    ['in HTML, by PHP', 'p&amp;q&lt;r&gt;&quot;s&#039;t/u v'],
    ['in XML', 'p&amp;q&lt;r&gt;&quot;s&apos;t/u v'],
    ['in HTML, by Go', 'p&amp;q&lt;r&gt;&#34;s&#39;t/u v'],
    ['in the text of HTML', `p&amp;q&lt;r&gt;"s't/u v`],
    ['in an attribute of HTML', `p&amp;q<r>&quot;s't/u v`],
    ['in JSON', String.raw`p&q<r>\"s't/u v`],
    ['in JSON, by Go', String.raw`p\u0026q\u003cr\u003e\"s't/u v`],
    ['in JSON, by PHP', String.raw`p&q<r>\"s't\/u v`],
    ['in JSON in HTML', String.raw`p&amp;q&lt;r&gt;\&quot;s&#39;t/u v`],
    ['in a URL', `p%26q%3Cr%3E%22s't%2Fu%20v`],
    ['in a URL, strictly', 'p%26q%3Cr%3E%22s%27t%2Fu%20v'],
    ['in a URL, by Python', 'p%26q%3Cr%3E%22s%27t/u%20v'],
    ['in a form', 'p%26q%3Cr%3E%22s%27t%2Fu+v'],
    ['in a URL as a whole', `p&q%3Cr%3E%22s't/u%20v`],
  ])('a value %s', (_, form) => {
    const value = `p&q<r>"s't/u v`
    expect(redact(`a ${form} b`, [value])).toBe('a [secret] b')
    const lower = form.replaceAll(/%../g, (one) => one.toLowerCase())
    expect(redact(`a ${lower} b`, [value])).toBe('a [secret] b')
  })

  test.each([
    [
      'a colour in it',
      `\x1b[31m${SECRET.slice(0, 5)}\x1b[1;38;5;9m${SECRET.slice(5)}\x1b[0m`,
      '\x1b[31m[secret]\x1b[1;38;5;9m\x1b[0m',
    ],
    [
      'a colour for each character',
      [...SECRET].join('\x1b[m'),
      `[secret]${'\x1b[m'.repeat(SECRET.length - 1)}`,
    ],
    [
      'the terminal reset in it',
      `${SECRET.slice(0, 5)}\x1b(B\x1b[m${SECRET.slice(5)}`,
      '[secret]\x1b(B\x1b[m',
    ],
    [
      'colours in its base64',
      Buffer.from(SECRET).toString('base64').replace(/^.{7}/, '$&\x1b[7m'),
      '[secret]\x1b[7m',
    ],
  ])('a value with %s, wherever the text breaks', (_, form, expected) => {
    const text = `a ${form} b`
    expect(redact(text, [SECRET])).toBe(`a ${expected} b`)
    for (let at = 0; at <= text.length; at++) {
      const redactor = createRedactor([SECRET])
      const shown = [text.slice(0, at), text.slice(at)].map((part) => redactor.push(part)).join('')
      expect(shown + redactor.end(), `${at}`).toBe(`a ${expected} b`)
    }
    const redactor = createRedactor([SECRET])
    expect([...text].map((one) => redactor.push(one)).join('') + redactor.end()).toBe(`a ${expected} b`)
  })

  test('colours around what is no secret stay, and a text is not held back for long', () => {
    const text = '\x1b[31mred\x1b[0m and \x1b]8;;https://x.example\x07link\x1b]8;;\x07'
    expect(redact(text, [SECRET])).toBe(text)
    expect(redact('an end \x1b[38;5;9', [SECRET])).toBe('an end \x1b[38;5;9')
    const redactor = createRedactor([SECRET])
    expect(redactor.push(`\x1b[${'1;'.repeat(10_000)}`)).not.toBe('')
  })

  test('the beginning of a value at the end of a text is hidden, also with colours in it', () => {
    const redactor = createRedactor([SECRET])
    const shown = redactor.push(`a ${SECRET.slice(0, 4)}\x1b[31m${SECRET.slice(4, 9)}`) + redactor.end()
    expect(shown).toBe('a [secret]\x1b[31m')
  })

  test('each line of a key, and its base64 wherever it begins', () => {
    const key = '-----BEGIN KEY-----\nMIIBabcdefgh\n-----END KEY-----'
    expect(redact('│ MIIBabcdefgh │', [key])).toBe('│ [secret] │')
    for (const before of ['', 'a', 'ab', 'abc'])
      expect(redact(Buffer.from(`${before}${key}`).toString('base64'), [key])).not.toMatch(/[\w+/]{12}/)
  })

  test('five large keys → a thousand pieces of output in a moment', () => {
    const line = (at: number): string => createHash('sha512').update(`${at}`).digest('base64')
    const key = (from: number): string => Array.from({ length: 150 }, (_, at) => line(from + at)).join('\n')
    const redactor = createRedactor([0, 1000, 2000, 3000, 4000].map(key))
    const before = process.cpuUsage()
    for (let at = 0; at < 1000; at++) redactor.push(`\x1b[32m${at}\x1b[0m uploading shop/server.js\n`)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(1000)
  })

  test('a value of a few characters would make the output unreadable, and stays', () => {
    expect(redact('1 of 1', ['1', ''])).toBe('1 of 1')
  })
})

test.each([
  ['✘ [ERROR] no', true],
  ['Error: no', true],
  ['error: no', true],
  ['\u001b[31mError:\u001b[39m no', true],
  [' ›   Error: no', true],
  ['TypeError: no', true],
  ['An error occurred (ValidationError) when', false],
  ['0 errors', false],
  ['Errors: 0', false],
  ['uploaded error.html', false],
  ['Error', false],
  ['Error: Failed to get package info: Error: Failed to fetch dist-tags from npm', false],
])('%j is an error: %j', (line, expected) => {
  expect(errorIn(`before\n${line}\nafter`) !== undefined).toBe(expected)
})
