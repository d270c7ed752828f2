/**
 * Bundles one worker of one tool per peer as a deploy to an edge platform does: esbuild, minified, ES modules, the
 * conditions of workerd, no Node polyfills. The same files are then what `cold-start.ts` starts.
 */
import { writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { mcpLite } from './peers/mcp-lite.ts'
import { type Dialect, LEGACY, MODERN } from './requests.ts'

export type WorkerId = 'mayfly-json-schema' | 'mayfly-zod' | 'sdk-v2' | 'sdk-v1' | 'mcp-lite'

interface Worker {
  readonly id: WorkerId
  readonly name: string
  readonly dialect: Dialect
}

export interface Bundle extends Worker {
  readonly path: string
  readonly minifiedBytes: number
  readonly gzippedBytes: number
  /** Node's own modules that the bundle imports; a platform without them refuses it. */
  readonly builtins: readonly string[]
  /** Minified bytes by npm package, largest first. */
  readonly parts: readonly { readonly name: string; readonly bytes: number }[]
}

const WORKERS: readonly Worker[] = [
  { id: 'mayfly-json-schema', name: 'mayfly, JSON Schema', dialect: MODERN },
  { id: 'mayfly-zod', name: 'mayfly, zod', dialect: MODERN },
  { id: 'sdk-v2', name: 'SDK v2, zod', dialect: MODERN },
  { id: 'sdk-v1', name: 'SDK v1, zod', dialect: LEGACY },
  { id: 'mcp-lite', name: 'mcp-lite, zod', dialect: mcpLite.dialect },
]

/**
 * Writes the bundles to `directory`.
 *
 * @throws Error when one of Mayfly's imports a module of Node's: its core promises to run where there is none.
 */
export async function bundleWorkers(directory: string): Promise<readonly Bundle[]> {
  const bundles: Bundle[] = []
  for (const worker of WORKERS) bundles.push(await bundleWorker(worker, directory))
  return bundles
}

async function bundleWorker(worker: Worker, directory: string): Promise<Bundle> {
  const builtins = new Set<string>()
  const path = join(directory, `${worker.id}.mjs`)
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL(`workers/${worker.id}.ts`, import.meta.url))],
    outfile: path,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    metafile: true,
    logLevel: 'error',
    plugins: [
      {
        name: 'note-builtins',
        setup({ onResolve }) {
          onResolve({ filter: /^[a-z0-9:/_]+$/ }, ({ path: specifier }) => {
            if (!isBuiltin(specifier)) return undefined
            builtins.add(specifier)
            return { path: specifier, external: true }
          })
        },
      },
    ],
    write: false,
  })
  if (worker.id.startsWith('mayfly') && builtins.size > 0) {
    throw new Error(
      `The bundle of "${worker.name}" imports ${[...builtins].join(', ')}: src/ may not need Node.`,
    )
  }
  const { contents } = outputFiles[0]!
  await writeFile(path, contents)
  return {
    ...worker,
    path,
    minifiedBytes: contents.byteLength,
    gzippedBytes: gzipSync(contents, { level: 9 }).byteLength,
    builtins: [...builtins],
    parts: partsOf(metafile),
  }
}

function partsOf(metafile: Metafile): Bundle['parts'] {
  const bytesByName = new Map<string, number>()
  for (const output of Object.values(metafile.outputs)) {
    for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
      const name = partName(input)
      bytesByName.set(name, (bytesByName.get(name) ?? 0) + bytesInOutput)
    }
  }
  return [...bytesByName].map(([name, bytes]) => ({ name, bytes })).sort((a, b) => b.bytes - a.bytes)
}

/** The npm package an input belongs to, or the top folders of this repository. */
function partName(input: string): string {
  const dependency = input.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]
  return dependency ?? input.match(/(dist\/[^/]+\/[^/]+|bench)/)?.[1] ?? input
}
