/** This package's own manifest: imported by the package's name, so that it works both from source and from dist/. */
import { createRequire } from 'node:module'
import { dirname, sep } from 'node:path'

const MANIFEST = 'mayfly-mcp/package.json'

export interface PackageManifest {
  readonly version: string
  readonly exports: { readonly [path: string]: unknown }
  readonly engines: { readonly node: string }
  readonly peerDependencies: { readonly [name: string]: string }
}

export function packageManifest(): PackageManifest {
  return createRequire(import.meta.url)(MANIFEST) as PackageManifest
}

let folder: string | undefined

export function packageFolder(): string {
  folder ??= dirname(createRequire(import.meta.url).resolve(MANIFEST))
  return folder
}

/** Whether a file is below one of these folders of this package: `src`, `dist`. */
export function isBelow(file: string, ...names: readonly string[]): boolean {
  return names.some((name) => file.startsWith(`${packageFolder()}${sep}${name}${sep}`))
}
