/** Packages that another package loads only if they are installed. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'

/**
 * Leaves out what a package declares as optional and what is not installed, if it is loaded by `require()` or `import()`: those then fail
 * where they are called, as without a bundle. Other missing packages still fail the build.
 */
export function optionalPackages(): Plugin {
  const isAsked = {}
  return {
    name: 'mayfly-optional-packages',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        const isLazy = kind === 'require-call' || kind === 'dynamic-import'
        if (pluginData === isAsked || !isLazy || !isOptional(path, importer)) return undefined
        const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: isAsked })
        return found.errors.length > 0 ? { path, external: true } : found
      })
    },
  }
}

export interface Manifest {
  readonly peerDependenciesMeta?: { readonly [name: string]: { readonly optional?: boolean } }
  readonly optionalDependencies?: { readonly [name: string]: string }
  readonly sideEffects?: boolean | readonly string[]
}

/** Whether the package of the file `importer` declares it so. */
function isOptional(path: string, importer: string): boolean {
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path
  const { peerDependenciesMeta = {}, optionalDependencies = {} } = manifestOf(importer)
  return peerDependenciesMeta[name]?.optional === true || name in optionalDependencies
}

/** The nearest package.json with a name, within `node_modules`; otherwise empty. */
export function manifestOf(file: string): Manifest {
  for (let folder = dirname(file); /[\\/]node_modules[\\/]/.test(`${folder}/`); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json')
    if (!existsSync(manifest)) continue
    const found = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest & { readonly name?: string }
    if (found.name !== undefined) return found
  }
  return {}
}
