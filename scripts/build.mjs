/**
 * `npm run build`: compiles the package into `dist`: its types with tsc, its modules with rolldown, which puts them into few files
 * (scripts/chunks.mjs). The new folder takes the place of the old one at the end, when it is whole: tests and servers that run from `dist`
 * meanwhile never see half of it. Plain JavaScript, since `npm ci` also runs it on Node 20.
 */
import './installed.mjs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { planChunks } from './chunks.mjs'
import { published, started } from './entries.mjs'
import { oauthLibrary } from './oauth-library.mjs'
import { withPureConstants } from './pure.mjs'
import { notices } from './third-party.mjs'

// Once the packages are known to be there: a static import would come before that.
const { rolldown } = await import('rolldown')

const ROOT = join(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')
const WORK = join(ROOT, 'node_modules/.cache', `build-${process.pid}`)
const TARGET = 'es2024'
const built = join(WORK, 'new')
const replaced = join(WORK, 'old')
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

mkdirSync(WORK, { recursive: true })
const [modules, types] = await Promise.allSettled([bundleModules(), writeTypes()])
try {
  if (modules.status === 'rejected') throw modules.reason
  if (types.value === 0) {
    await bundlePlayground()
    if (existsSync(DIST)) renameSync(DIST, replaced)
    renameSync(built, DIST)
  }
  process.exitCode = types.value
} finally {
  rmSync(WORK, { recursive: true, force: true })
}

/** Returns the compiler's exit code. */
async function writeTypes() {
  const compiler = join(ROOT, 'node_modules/typescript-7/bin/tsc')
  const args = [compiler, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', built]
  const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')
  return code ?? 1
}

async function bundleModules() {
  const entries = [...new Set([...published(manifest), ...started(ROOT)])]
  const outside = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  let modules
  const bundler = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(entries.map((name) => [name, join(ROOT, `${name}.ts`)])),
    // No entry point has what others import: that is in a chunk.
    preserveEntrySignatures: 'allow-extension',
    platform: 'node',
    // Of the packages that become a part of the command line.
    resolve: { mainFields: ['module', 'main'] },
    external: (id) => outside.some((name) => id === name || id.startsWith(`${name}/`)),
    transform: { target: TARGET },
    experimental: { nativeMagicString: true },
    plugins: [
      oauthLibrary,
      {
        name: 'mayfly-modules',
        transform: {
          filter: { id: /[\\/](?:src|adapters)[\\/].*\.ts$/ },
          handler(code, _id, { magicString }) {
            return { code: withPureConstants(this.parse(code, { lang: 'ts' }), magicString) }
          },
        },
        buildEnd() {
          modules = modulesOf(this)
        },
      },
    ],
    // How long it took is no warning.
    checks: { bundlerTimings: false },
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message)
    },
  })
  let plan
  const { output } = await bundler.write({
    dir: built,
    format: 'es',
    // The lines of the sources, not their text: the package would be twice as large.
    sourcemap: true,
    sourcemapExcludeSources: true,
    sourcemapPathTransform: (source, map) =>
      relative(dirname(join(DIST, relative(built, map))), join(dirname(map), source)).replaceAll(sep, '/'),
    entryFileNames: '[name].js',
    chunkFileNames: ({ name }) => (name.includes('/') ? `${name}.js` : `chunks/${name}.js`),
    // Other files import them by these names.
    minifyInternalExports: false,
    comments: { legal: false, jsdoc: false, annotation: true },
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        {
          debugName: 'chunks',
          name: (id) => {
            plan ??= planChunks(modules, entries, Object.keys(manifest.peerDependencies))
            return plan.get(nameOf(id)) ?? null
          },
        },
      ],
    },
  })
  await bundler.close()
  writeFileSync(join(built, 'THIRD-PARTY.txt'), notices(ROOT, output))
}

/** Of all modules, those of the packages included that become a part of a file. */
function modulesOf(context) {
  const infos = [...context.getModuleIds()].map((id) => [id, context.getModuleInfo(id)])
  return new Map(
    infos
      .filter(([, info]) => !info.isExternal && info.code !== null)
      .map(([id, { code, importedIds, dynamicallyImportedIds }]) => [
        nameOf(id),
        { size: code.length, imports: importedIds.map(nameOf), later: dynamicallyImportedIds.map(nameOf) },
      ]),
  )
}

/** `src/definition/tool`; the specifier of another package stays as it is. */
function nameOf(id) {
  return id.startsWith(ROOT) ? relative(ROOT, id).replaceAll(sep, '/').replace(/\.ts$/, '') : id
}

/** `mayfly dev` serves browsers one module for each page: page.ts of the playground names them. */
async function bundlePlayground() {
  const folder = 'deploy/playground/browser'
  for (const page of ['main', 'tasks']) {
    const bundler = await rolldown({
      cwd: ROOT,
      input: join(ROOT, folder, `${page}.ts`),
      platform: 'browser',
      transform: { target: TARGET },
    })
    await bundler.write({ file: join(built, folder, `${page}.js`), format: 'es', minify: true })
    await bundler.close()
  }
}
