/** What `mayfly deploy` ends with, `--preview`, and `mayfly logs`: around tools that are stand-ins. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { serve } from '../../adapters/node.ts'
import type { Target } from '../../deploy/contract/target.ts'
import { targets } from '../../deploy/targets/all.ts'
import { deno } from '../../deploy/targets/deno/target.ts'
import { netlify } from '../../deploy/targets/netlify/target.ts'
import { supabase } from '../../deploy/targets/supabase/target.ts'
import { vercel } from '../../deploy/targets/vercel/target.ts'
import { staticTokens } from '../../src/auth.ts'
import { MCPServer } from '../../src/index.ts'
import { MayflyProcess, type Output, Project, stopAll } from './_dev-process.ts'

afterAll(stopAll)

const TOKEN = 'a-token-for-the-check-0123456789abcdef'

/** Reports as wrangler does: one JSON object a line. */
function writeWrangler(project: Project, report: readonly object[]): void {
  const folder = join(project.folder, 'node_modules/wrangler')
  mkdirSync(folder, { recursive: true })
  project.write('node_modules/wrangler/package.json', '{ "name": "wrangler", "bin": "cli.js" }')
  project.write(
    'node_modules/wrangler/cli.js',
    `#!${process.execPath}
const { appendFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
if (args.includes('--dry-run')) {
  writeFileSync(args[args.indexOf('--outdir') + 1] + '/server.js', 'export default { fetch: () => new Response("hello") }')
  process.exit(0)
}
if (args[0] === 'check') process.exit(1)
appendFileSync(${JSON.stringify(join(project.folder, 'calls'))}, args.slice(0, 2).join(' ') + '\\n')
if (args[0] === 'whoami') process.exit(require('node:fs').existsSync('no-login') ? 1 : 0)
console.log('Uploaded, says the tool')
const report = ${JSON.stringify(report.map((line) => `${JSON.stringify(line)}\n`).join(''))}
if (process.env.WRANGLER_OUTPUT_FILE_PATH) writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, report)
`,
  )
  chmodSync(join(folder, 'cli.js'), 0o755)
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  project.write('wrangler.toml', 'name = "shop"\n')
}

function run(project: Project, ...args: string[]): Promise<Output> {
  return new MayflyProcess(args, project.folder).exited
}

function calls(project: Project): string[] {
  const file = join(project.folder, 'calls')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

const SESSION = { type: 'wrangler-session', version: 1 }

describe('mayfly deploy ends', { timeout: 180_000 }, () => {
  test.for([
    ['the address of workers.dev', ['https://shop.acme.workers.dev'], 'https://shop.acme.workers.dev/mcp'],
    [
      'a domain of one’s own before it',
      ['https://shop.acme.workers.dev', 'mcp.shop.example (custom domain)', 'schedule: 0 * * * *'],
      'https://mcp.shop.example/mcp',
    ],
    [
      'the host of a route',
      ['*.shop.example/* (zone name: shop.example)', 'mcp.shop.example/* (zone name: shop.example)'],
      'https://mcp.shop.example/mcp',
    ],
  ] as const)('with the URL alone on stdout: %s', async ([, told, url]) => {
    await using project = new Project()
    writeWrangler(project, [SESSION, { type: 'deploy', targets: told }])

    const { code, stdout, stderr } = await run(project, 'deploy', '--target', 'cloudflare', '--no-check')

    expect({ code, stdout }).toEqual({ code: 0, stdout: `deployed ${url}\n` })
    expect(stderr).toContain('Uploaded, says the tool')
  })

  test.for(['--check', '--no-check', '--yes'])(
    'as a failure where the tool tells no URL: %s',
    async (option) => {
      await using project = new Project()
      writeWrangler(project, [])
      const { code, stdout, stderr } = await run(project, 'deploy', '--target', 'cloudflare', option)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain('did not print the URL')
    },
  )

  test.for([
    ['that serves MCP', true, 0],
    ['that is something else', false, 1],
  ] as const)('--check: with what mayfly check says of a server %s', async ([, isMcp, expected]) => {
    await using project = new Project()
    const mcp = new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', log: false })
    const running = await serve(isMcp ? mcp : { fetch: () => new Response('hello') }, { port: 0 })
    try {
      const preview_url = running.url.replace(/\/mcp$/, '').replace('127.0.0.1', 'localhost')
      writeWrangler(project, [{ type: 'version-upload', preview_url }])

      const { code, stdout } = await run(project, 'deploy', '--target', 'cloudflare', '--preview', '--check')

      expect(stdout.split('\n')[0]).toBe(`deployed ${new URL('/mcp', preview_url).href}`)
      expect(stdout).toContain(isMcp ? 'works' : 'does not answer MCP')
      expect(code, stdout).toBe(expected)
      expect(calls(project).at(-1)).toBe('versions upload')
    } finally {
      await running.close()
    }
  })
})

test('--preview where the platform has none → one line, before anything is built', async () => {
  await using project = new Project()
  project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
  const { code, stderr } = await run(project, 'deploy', '--target', 'lambda', '--preview')
  expect(code).toBe(2)
  expect(stderr).toMatch(/^mayfly: AWS Lambda has no previews: [^\n]+\n$/)
})

/** `--prod` is what a preview leaves out. */
test.each<[string, Target]>([
  ['vercel', vercel],
  ['netlify', netlify],
  ['deno', deno],
])('%s: a preview is not the production deployment', (_name, target) => {
  const project = { cwd: '/nowhere', entry: '/nowhere/server.ts', name: 'shop' }
  const lineOf = (isPreview: boolean): string => {
    const { steps } = target.deployment('/nowhere/out', project, { secrets: new Map(), extra: [], isPreview })
    return steps.at(-1)!.args.join(' ')
  }
  expect(lineOf(false)).toContain('--prod')
  expect(lineOf(true)).not.toMatch(/--prod(?!\w)/)
})

test.each<[string, Target, boolean, string, string | undefined]>([
  ['vercel', vercel, false, 'https://shop-abc-acme.vercel.app', 'https://shop-abc-acme.vercel.app/mcp'],
  [
    'netlify',
    netlify,
    false,
    '{ "deploy_url": "https://1--shop.netlify.app", "url": "https://shop.example" }',
    'https://shop.example/mcp',
  ],
  [
    'netlify, a preview',
    netlify,
    true,
    '{ "deploy_url": "https://1--shop.netlify.app", "url": "https://shop.example" }',
    'https://1--shop.netlify.app/mcp',
  ],
  [
    'deno',
    deno,
    false,
    'https://console.deno.com/acme/shop/builds/abc\nhttps://shop-abc123.acme.deno.net\nhttps://shop.acme.deno.net\n',
    'https://shop.acme.deno.net/mcp',
  ],
  [
    'deno, a preview',
    deno,
    true,
    'https://shop.acme.deno.net\nhttps://shop-abc123.acme.deno.net\n',
    'https://shop-abc123.acme.deno.net/mcp',
  ],
  ['deno, without one', deno, false, 'done', undefined],
])('%s: the endpoint is in what the tool prints', (_name, target, isPreview, told, url) => {
  const project = { cwd: '/nowhere', entry: '/nowhere/server.ts', name: 'shop' }
  const { endpoint } = target.deployment('/nowhere/out', project, {
    secrets: new Map(),
    extra: [],
    isPreview,
  })
  expect(endpoint?.find(told)).toBe(url)
})

test.for([
  [['--project-ref', 'abcdefghijklmnopqrst'], 'abcdefghijklmnopqrst'],
  [['--remote=abcdefghijklmnopqrst'], 'abcdefghijklmnopqrst'],
  // The host of a branch is not known by its name.
  [['--remote=staging'], undefined],
] as const)('supabase: the endpoint is the project’s, with %j', ([extra, ref]) => {
  const project = { cwd: '/nowhere', entry: '/nowhere/server.ts', name: 'shop' }
  const { endpoint } = supabase.deployment('/nowhere/out', project, { secrets: new Map(), extra })
  expect(endpoint?.find('')).toBe(ref && `https://${ref}.supabase.co/functions/v1/shop/mcp`)
})

describe('mayfly logs', { timeout: 180_000 }, () => {
  test('hands over to the platform’s own tail, which prints on stdout', async () => {
    await using project = new Project()
    writeWrangler(project, [])
    const { code, stdout } = await run(project, 'logs', '--target', 'cloudflare', '--', '--format', 'json')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Uploaded, says the tool\n' })
    expect(calls(project).at(-1)).toMatch(/^tail /)
  })

  test.for([...targets.keys()])('--target %s says where the log is, or how to see it', async (target) => {
    await using project = new Project()
    project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
    const env = { PATH: '/nowhere', CI: '1' }
    const { code, stderr } = await new MayflyProcess(
      ['logs', '--target', target],
      project.folder,
      undefined,
      env,
    ).exited
    expect(code).toBe(1)
    expect(stderr).toMatch(/^mayfly: [^\n]+\n$/)
  })

  test('lambda: the name of the log group is looked up in the stack', async () => {
    await using project = new Project()
    project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
    mkdirSync(join(project.folder, 'bin'))
    project.write(
      'bin/aws',
      `#!/bin/sh
case "$*" in
  *describe-stacks*LogGroupName*--region?eu-west-1) echo shop-log-group ;;
  *) echo "$*" ;;
esac
`,
    )
    chmodSync(join(project.folder, 'bin/aws'), 0o755)
    const env = { PATH: `${join(project.folder, 'bin')}:${process.env.PATH}` }
    const args = ['logs', '--target', 'lambda', '--', '--region', 'eu-west-1', '--since', '1h']
    const { stdout } = await new MayflyProcess(args, project.folder, undefined, env).exited
    expect(stdout).toBe('logs tail shop-log-group --follow --region eu-west-1 --since 1h\n')
  })

  test.each(['', 'None'])(
    'lambda: a stack without a log group (the AWS CLI prints "%s") → one line',
    async (told) => {
      await using project = new Project()
      project.write('server.ts', `export default { fetch: () => new Response('hello') }`)
      project.write('package.json', '{ "name": "shop", "type": "module" }')
      mkdirSync(join(project.folder, 'bin'))
      project.write(
        'bin/aws',
        `#!/bin/sh\ncase "$*" in *describe-stacks*) echo ${told} ;; *tail*) echo "$*" ;; esac\n`,
      )
      chmodSync(join(project.folder, 'bin/aws'), 0o755)
      const env = { PATH: `${join(project.folder, 'bin')}:${process.env.PATH}` }
      const mayfly = new MayflyProcess(['logs', '--target', 'lambda'], project.folder, undefined, env)
      const { code, stdout, stderr } = await mayfly.exited
      expect(code).toBe(1)
      expect(stdout).toBe('')
      expect(stderr).toMatch(/^mayfly: the stack shop has no log group: deploy the server [^\n]+\n$/)
    },
  )
})

/** Runs `act` with a server of this machine and a wrangler that reports it. */
async function withServer(
  auth: 'open' | 'token' | 'broken',
  act: (project: Project, url: string) => Promise<void>,
): Promise<void> {
  await using project = new Project()
  const options = { id: 'shop', name: 'Shop', version: '1.0.0', log: false } as const
  const mcp = new MCPServer({
    ...options,
    ...(auth === 'token' && { auth: staticTokens([{ token: TOKEN, clientId: 'me' }]) }),
  })
  const broken = { fetch: () => new Response('no', { status: 500 }) }
  const running = await serve(auth === 'broken' ? broken : mcp, { port: 0 })
  try {
    const preview_url = running.url.replace(/\/mcp$/, '').replace('127.0.0.1', 'localhost')
    writeWrangler(project, [{ type: 'version-upload', preview_url }])
    await act(project, new URL('/mcp', preview_url).href)
  } finally {
    await running.close()
  }
}

describe('the health check at the end', { timeout: 180_000 }, () => {
  test('is the default, and says what it saw', () =>
    withServer('open', async (project, url) => {
      const { code, stdout, stderr } = await run(project, 'deploy', '--target', 'cloudflare')
      expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: `deployed ${url}\n` })
      expect(stderr).toMatch(/^mayfly: checked http:\S+: \d\d work, \d+ degrade, 0 wrong, \d+ skipped/m)
    }))

  test('of a server that does not answer MCP → exit code 1 with what is wrong', () =>
    withServer('broken', async (project) => {
      const { code, stderr } = await run(project, 'deploy', '--target', 'cloudflare')
      expect(code, stderr).toBe(1)
      expect(stderr).toMatch(/^mayfly: wrong: [^\n]+\[[\w.-]+\]$/m)
    }))

  test('--no-check: none', () =>
    withServer('broken', async (project, url) => {
      const { code, stdout, stderr } = await run(project, 'deploy', '--target', 'cloudflare', '--no-check')
      expect({ code, stdout }).toEqual({ code: 0, stdout: `deployed ${url}\n` })
      expect(stderr).not.toContain('checked')
    }))

  test('of a server with auth names the option; --check fails without it, and with it runs the rest', () =>
    withServer('token', async (project) => {
      project.write('.env', `API_TOKEN=${TOKEN}\n`)
      const args = ['deploy', '--target', 'cloudflare']
      const without = await run(project, ...args)
      expect(without.code, without.stderr).toBe(0)
      expect(without.stderr).toMatch(
        /asks for a token, so \d+ steps of the check were skipped: pass --check-bearer-env/,
      )
      expect((await run(project, ...args, '--check')).code).toBe(1)

      const { code, stderr, stdout } = await run(project, ...args, '--check-bearer-env', 'API_TOKEN')

      expect(code, stderr).toBe(0)
      const [, works, skipped] = /(\d+) work, .* (\d+) skipped/.exec(stderr)!
      expect(Number(works)).toBeGreaterThan(30)
      expect(Number(skipped)).toBeLessThan(30)
      expect(stderr + stdout).not.toContain(TOKEN)
    }))

  test('--json: one document on stdout with the place, the URL and what the check saw', () =>
    withServer('open', async (project, url) => {
      const { code, stdout, stderr } = await run(project, 'deploy', '--target', 'cloudflare', '--json')
      expect(code, stderr).toBe(0)
      expect(JSON.parse(stdout)).toEqual({
        deployed: true,
        target: 'cloudflare',
        project: expect.any(String) as string,
        stage: 'production',
        isPreview: false,
        place: { kind: 'Worker', name: 'shop', account: null },
        url,
        check: {
          summary: expect.objectContaining({ wrong: 0 }) as object,
          isLocked: false,
          problems: expect.any(Array) as unknown[],
        },
      })
    }))

  test('--json without a URL says so, with exit code 1', async () => {
    await using project = new Project()
    writeWrangler(project, [])
    const { code, stdout } = await run(project, 'deploy', '--target', 'cloudflare', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      deployed: false,
      url: null,
      check: null,
      reason: expect.stringContaining('did not print the URL') as string,
    })
  })
})

describe('a refused deploy --json prints one document, too', { timeout: 180_000 }, () => {
  /** What is not known is null. */
  const NOTHING = { deployed: false, project: null, isPreview: null, target: null, stage: null, place: null }
  const PLACE = { kind: 'Worker', name: 'shop', account: null }

  test.for<
    [
      what: string,
      args: string[],
      code: number,
      expected: { reason: RegExp; [member: string]: unknown },
      arrange?: (project: Project) => void,
    ]
  >([
    ['an unknown option', ['--stagee', 'x'], 2, { ...NOTHING, reason: /stagee/ }],
    [
      'no entry',
      [],
      1,
      { ...NOTHING, reason: /server\.ts/ },
      ({ folder }) => rmSync(join(folder, 'server.ts')),
    ],
    [
      'a stage that nothing has',
      ['--stage', 'staging'],
      1,
      {
        target: 'cloudflare',
        stage: 'staging',
        place: null,
        reason: /wrangler\.toml has no environment staging/,
      },
    ],
    [
      'a missing secret',
      ['--secret', 'MISSING'],
      1,
      {
        target: 'cloudflare',
        stage: 'production',
        isPreview: false,
        place: PLACE,
        reason: /MISSING has no value/,
      },
    ],
    [
      'a folder that is not to be replaced',
      ['--out', 'full'],
      1,
      { place: PLACE, reason: /full/ },
      (project) => {
        mkdirSync(join(project.folder, 'full'))
        project.write('full/x', '')
      },
    ],
    [
      'no login',
      [],
      1,
      { place: PLACE, reason: /you are not logged in to wrangler/ },
      (project) => project.write('no-login', ''),
    ],
    ['--dry-run', ['--dry-run'], 2, { reason: /--json and --dry-run contradict/ }],
  ])('%s', async ([, args, exitCode, { reason, ...expected }, arrange]) => {
    await using project = new Project()
    writeWrangler(project, [])
    arrange?.(project)
    const { code, stdout, stderr } = await run(project, 'deploy', '--target', 'cloudflare', '--json', ...args)
    expect(code, stderr).toBe(exitCode)
    const document = JSON.parse(stdout) as { reason: string }
    expect(document).toMatchObject({ deployed: false, url: null, check: null, ...expected })
    expect(document.reason).toMatch(reason)
    expect(Object.keys(document).sort()).toEqual([
      'check',
      'deployed',
      'isPreview',
      'place',
      'project',
      'reason',
      'stage',
      'target',
      'url',
    ])
    expect(stderr).toContain(document.reason.split('\n')[0])
  })

  test('--json after -- is the option of the tool', async () => {
    await using project = new Project()
    writeWrangler(project, [])
    const { stdout } = await run(
      project,
      'deploy',
      '--target',
      'cloudflare',
      '--secret',
      'MISSING',
      '--',
      '--json',
    )
    expect(stdout).toBe('')
  })
})

test.each([
  [['--check', '--no-check'], /--check and --no-check/],
  [['--stage', 'staging', '--preview'], /--stage and --preview/],
  [['--json', '--dry-run'], /--json and --dry-run/],
  [['--no-check', '--check-bearer-env', 'A'], /--check-bearer-env and --no-check/],
  [['--stage', 'production'], /without --stage, production is meant/],
  [['--timeout', '0'], /not a valid timeout/],
  [['--stage', 'staging', '--', '--env', 'production'], /--stage staging and --env both name a place/],
  [['--check-bearer-env', 'sk-live-secret'], /takes the name of an environment variable/],
])('%j → exit code 2, before anything is built', async (args, expected) => {
  await using project = new Project()
  writeWrangler(project, [])
  const { code, stderr } = await run(project, 'deploy', '--target', 'cloudflare', ...args)
  expect(code, stderr).toBe(2)
  expect(stderr).toMatch(expected)
  expect(stderr).not.toContain('sk-live-secret')
  expect(existsSync(join(project.folder, 'dist'))).toBe(false)
})
