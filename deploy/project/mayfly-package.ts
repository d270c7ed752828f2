/** This package's own manifest: imported by the package's name, so that it works both from source and from dist/. */
import { createRequire } from 'node:module'

export interface PackageManifest {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly peerDependencies: { readonly [name: string]: string }
}

export function packageManifest(): PackageManifest {
  return createRequire(import.meta.url)('mayfly-mcp/package.json') as PackageManifest
}
