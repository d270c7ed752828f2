/** This package's own manifest: it refers to itself by name, so that this works from source and from dist/ alike. */
import { createRequire } from 'node:module'

export interface PackageManifest {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly peerDependencies: { readonly [name: string]: string }
}

export function packageManifest(): PackageManifest {
  return createRequire(import.meta.url)('mayfly-mcp/package.json') as PackageManifest
}
