/** This package's own manifest: imported by the package's name, so that it works both from source and from dist/. */
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

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

export function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve(MANIFEST))
}
