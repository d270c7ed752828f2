/** What `mayfly build` and `deploy` refuse to write: values of a project's files, wherever and however they got in. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { targets } from '../../deploy/targets/all.ts'
import { MayflyProcess, type Output, Project } from './_dev-process.ts'

const TIMEOUT_MS = 180_000
const SECRET = 'b6f1e0c4a9d84f2e8c7b5a3910de47aa'

const serverWith = (text: string): string =>
  `export default { fetch: () => new Response(${JSON.stringify(text)}) }`

interface Run {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

function mayfly(project: Project, args: string[], { cwd = '.', env = {} }: Run = {}): Promise<Output> {
  return new MayflyProcess(args, join(project.folder, cwd), undefined, env).exited
}

function expectRefusal({ code, stdout, stderr }: Output, name: string, from: string, secret: string): void {
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^mayfly: the build would contain the value of [^\n]+\n$/)
  expect(stderr).toContain(`the value of ${name} from ${from}, in `)
  expect(stderr).not.toContain(secret)
}

/** No file but those that were written by hand holds the value. */
function expectNowhere(project: Project, secret: string, written: readonly string[]): void {
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) walk(path)
      else if (entry.isFile() && !written.includes(path.slice(project.folder.length + 1))) {
        expect(readFileSync(path, 'utf8').includes(secret), path).toBe(false)
      }
    }
  }
  walk(project.folder)
}

describe.for([...targets.keys()])('--target %s', { timeout: TIMEOUT_MS }, (target) => {
  test.for([
    ['other scripts', 'Zugangsschlüssel-日本-😀-passwort'],
    ['quotes and backslashes', `a"b'c\`d\\e\${f}-and-more`],
    ['lines', '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END KEY-----'],
  ] as const)('a value of %s', async ([, secret]) => {
    await using project = new Project()
    const quote = ['"', "'", '`'].find((one) => !secret.includes(one) && !secret.includes('\\')) ?? ''
    project.write('.env', `SECRET=${quote}${secret}${quote}\n`)
    project.write('server.ts', serverWith(`the ${secret} of the shop`))

    const output = await mayfly(project, ['build', '--target', target])

    expectRefusal(output, 'SECRET', '.env', secret)
    expect(existsSync(join(project.folder, 'dist'))).toBe(false)
  })
})

describe('which files are read', { timeout: TIMEOUT_MS }, () => {
  test.for([
    '.env',
    '.env.local',
    '.env.development',
    '.env.staging',
    '.env.production',
    '.env.test.local',
    '.dev.vars',
    '.dev.vars.staging',
  ])('%s', async (file) => {
    await using project = new Project()
    project.write(file, `API_KEY=${SECRET}\n`)
    project.write('server.ts', serverWith(SECRET))
    expectRefusal(await mayfly(project, ['build', '--target', 'node']), 'API_KEY', file, SECRET)
    expectNowhere(project, SECRET, [file, 'server.ts'])
  })

  test.for([
    ['the project’s, from a subfolder', 'app', ['build', '../src/server.ts', '--target', 'node'], '../.env'],
    [
      'the repository’s, from a package of it',
      'packages/shop',
      ['build', 'server.ts', '--target', 'node'],
      '../../.env',
    ],
    [
      'those beside the entry',
      '.',
      ['build', 'packages/shop/server.ts', '--target', 'node'],
      'packages/shop/.env.local',
    ],
  ] as const)('%s', async ([, cwd, args, from]) => {
    await using project = new Project()
    for (const folder of ['app', 'src', 'packages/shop', '.git']) {
      mkdirSync(join(project.folder, folder), { recursive: true })
    }
    project.write('package.json', '{}')
    project.write('packages/shop/package.json', '{}')
    project.write(from.startsWith('..') ? '.env' : from, `API_KEY=${SECRET}\n`)
    for (const path of ['src/server.ts', 'packages/shop/server.ts']) project.write(path, serverWith(SECRET))

    expectRefusal(await mayfly(project, [...args], { cwd }), 'API_KEY', from, SECRET)
  })

  test('those beside the file that the entry is a link to', async () => {
    await using project = new Project()
    for (const folder of ['app', 'shop']) {
      mkdirSync(join(project.folder, folder))
      project.write(`${folder}/package.json`, '{}')
    }
    project.write('shop/.env', `API_KEY=${SECRET}\n`)
    project.write('shop/server.ts', serverWith(SECRET))
    symlinkSync('../shop/server.ts', join(project.folder, 'app/server.ts'))

    const output = await mayfly(project, ['build', '--target', 'node'], { cwd: 'app' })

    expectRefusal(output, 'API_KEY', '../shop/.env', SECRET)
  })

  test('what is for all to read, and what a bundle holds by chance, is not refused', async () => {
    await using project = new Project()
    for (const kind of ['example', 'sample', 'template']) {
      for (const file of [`.env.${kind}`, `.env.local.${kind}`, `.dev.vars.${kind}`]) {
        project.write(file, `API_KEY=${SECRET}\n`)
      }
    }
    project.write(
      '.env',
      'PORT=3000\nLEVEL=verbose\nHOST=localhost\nNODE_ENV=production\nMODE=development\nURL=http://localhost:3000\n',
    )
    project.write(
      'server.ts',
      serverWith(`${SECRET} 3000 verbose localhost production development http://localhost:3000`),
    )
    const { code, stderr } = await mayfly(project, ['build', '--target', 'node'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('a value that an example file shows for the same variable is not secret, unless it is sent as one', async () => {
    await using project = new Project()
    project.write('.env', 'ROLE=authenticated\nOTHER=authenticated\n')
    project.write('server.ts', serverWith('authenticated'))
    project.write('.env.example', 'ROLE=authenticated\nOTHER=\n')
    const refused = await mayfly(project, ['build', '--target', 'node'])
    expectRefusal(refused, 'OTHER', '.env', '"authenticated"')
    expect(refused.stderr).toContain('if it is not secret, write the same line into .env.example')

    project.write('.env.example', 'ROLE=authenticated\nOTHER=authenticated\n')
    expect(await mayfly(project, ['build', '--target', 'node'])).toMatchObject({ code: 0, stderr: '' })
    const sent = await mayfly(project, ['deploy', '--dry-run', '--target', 'netlify', '--secret', 'ROLE'])
    expect(sent.stderr).toContain('the build would contain the value of ROLE')
  })

  test('one that cannot be read → one line', async () => {
    await using project = new Project()
    symlinkSync('.env', join(project.folder, '.env'))
    project.write('server.ts', serverWith('hello'))
    const { code, stderr } = await mayfly(project, ['build', '--target', 'node'])
    expect(code).toBe(1)
    expect(stderr).toBe('mayfly: cannot read .env (ELOOP): its links form a cycle\n')
  })
})

describe('which built files are searched', { timeout: TIMEOUT_MS }, () => {
  test('on cloudflare, text modules and what source maps hold of the sources', async () => {
    const written = ['.env', 'server.ts', 'page.html']
    const wrangler = `name = "shop"\ncompatibility_date = "2026-06-01"\n`
    for (const [text, config, server, where] of [
      [
        SECRET,
        '',
        `import page from './page.html'\nexport default { fetch: () => new Response(page) }`,
        /-page\.html:/,
      ],
      // Dropped from the code, and still in the map.
      ['', 'upload_source_maps = true\n', `// ${SECRET}\n${serverWith('hello')}`, /server\.js\.map:/],
    ] as const) {
      await using project = new Project()
      project.write('.env', `API_KEY=${SECRET}\n`)
      project.write('wrangler.toml', wrangler + config)
      project.write('page.html', `<p>${text}</p>`)
      project.write('server.ts', server)
      const output = await mayfly(project, ['build', '--target', 'cloudflare'])
      expectRefusal(output, 'API_KEY', '.env', SECRET)
      expect(output.stderr).toMatch(where)
      expectNowhere(project, SECRET, written)
    }
  })

  test('what mayfly dev runs of a built target', async () => {
    await using project = new Project()
    project.write('.env', `API_KEY=${SECRET}\n`)
    project.write('server.ts', serverWith(SECRET))
    const output = await mayfly(project, ['dev', '--target', 'vercel', '--port', '0'])
    const read = 'mayfly: read .env\n'
    expect(output.stderr.startsWith(read)).toBe(true)
    expectRefusal({ ...output, stderr: output.stderr.slice(read.length) }, 'API_KEY', '.env', SECRET)
    expectNowhere(project, SECRET, ['.env', 'server.ts'])
    expect(readdirSync(join(project.folder, 'node_modules/.mayfly'))).toEqual([])
  })

  test('what mayfly doctor loads', async () => {
    await using project = new Project()
    project.write('.env', `API_KEY=${SECRET}\n`)
    project.write('server.ts', serverWith(SECRET))
    const { code, stdout } = await mayfly(project, ['doctor', '--target', 'node'])
    expect(code).toBe(1)
    expect(stdout).toContain('the build would contain the value of API_KEY from .env')
    expect(stdout).not.toContain(SECRET)
  })
})

describe('--secret', { timeout: TIMEOUT_MS }, () => {
  test('a value from the environment may be in the bundle as little as one of a file', async () => {
    await using project = new Project()
    project.write('server.ts', serverWith(SECRET))
    const args = ['deploy', '--target', 'vercel', '--dry-run', '--secret', 'API_KEY']
    expectRefusal(
      await mayfly(project, args, { env: { API_KEY: SECRET } }),
      'API_KEY',
      'the environment',
      SECRET,
    )
    expectNowhere(project, SECRET, ['server.ts'])
  })

  test('a value of the project’s root, from a subfolder', async () => {
    await using project = new Project()
    for (const folder of ['app', 'node_modules/wrangler']) {
      mkdirSync(join(project.folder, folder), { recursive: true })
    }
    project.write('package.json', '{}')
    project.write('.env', `API_KEY=${SECRET}\n`)
    project.write('app/server.ts', serverWith('hello'))
    const args = ['deploy', 'server.ts', '--target', 'vercel', '--dry-run', '--secret', 'API_KEY']
    const { code, stdout, stderr } = await mayfly(project, args, { cwd: 'app' })
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('vercel env add API_KEY')
    expect(stdout + stderr).not.toContain(SECRET)
  })

  test.for(['--force', '-x', '__proto__', 'constructor', 'A B', 'A\nB', '1A', ''])(
    'the name %j → one line',
    async (name) => {
      await using project = new Project()
      project.write('server.ts', serverWith('hello'))
      const { code, stdout, stderr } = await mayfly(project, [
        'deploy',
        '--target',
        'vercel',
        `--secret=${name}`,
      ])
      expect([1, 2]).toContain(code)
      expect(stdout).toBe('')
      expect(stderr).toMatch(/^mayfly: [^\n]+\n$/)
      expect(existsSync(join(project.folder, 'dist'))).toBe(false)
    },
  )
})
