/** A server as Mastra's servers describe themselves. */
import { present } from '../definition/present.ts'

/** Where the source code is. */
export interface Repository {
  url: string
  source?: 'github' | 'gitlab' | (string & {})
  id?: string
}

/** A package that can be installed. */
export interface PackageInfo {
  registry_name: 'npm' | 'docker' | 'pypi' | 'homebrew' | (string & {})
  name: string
  version: string
  /** How it is run. */
  command?: object
  environment_variables?: readonly object[]
}

/** A URL where the server can be reached. */
export interface RemoteInfo {
  transport_type: 'streamable' | 'sse' | (string & {})
  url: string
}

/** What a server of Mastra says about its publication. Clients do not see it. */
export interface Publication {
  repository?: Repository
  /** ISO 8601. Default: when the server was created. */
  releaseDate?: string
  /** Default true. */
  isLatest?: boolean
  packageCanonical?: string
  packages?: readonly PackageInfo[]
  remotes?: readonly RemoteInfo[]
}

/** A server in short. It is not the `server.json` of the MCP registry: `mayfly registry` writes that. */
export interface ServerInfo {
  id: string
  name: string
  description?: string
  repository?: Repository
  version_detail: { version: string; release_date: string; is_latest: boolean }
}

/** The same with packages and remotes; not the registry's `server.json` either. */
export interface ServerDetail extends ServerInfo {
  package_canonical?: string
  packages?: readonly PackageInfo[]
  remotes?: readonly RemoteInfo[]
}

interface Described extends Publication {
  readonly releaseDate: string
  readonly id: string
  readonly name: string
  readonly version: string
  readonly description: string | undefined
}

export function describeServer(server: Described): ServerInfo {
  const { id, name, description, repository, version, releaseDate, isLatest = true } = server
  return present<ServerInfo>({
    id,
    name,
    description,
    repository,
    version_detail: { version, release_date: releaseDate, is_latest: isLatest },
  })
}

export function describeServerDetail(server: Described): ServerDetail {
  const { packageCanonical, packages, remotes } = server
  const detail = present({ package_canonical: packageCanonical, packages, remotes })
  return { ...describeServer(server), ...(detail as Partial<ServerDetail>) }
}
