/** A server as Mastra's servers describe themselves. */
import { present } from '../definition/present.ts'

/** What a server of Mastra says about its publication. Clients do not see it. */
export interface Publication {
  repository?: { url: string; source?: string; id?: string }
  /** ISO 8601. */
  releaseDate?: string
  isLatest?: boolean
  packageCanonical?: string
  packages?: readonly object[]
  remotes?: readonly object[]
}

/** A server in short. It is not the `server.json` of the MCP registry: `mayfly registry` writes that. */
export interface ServerInfo {
  id: string
  name: string
  description?: string
  repository?: { url: string; source?: string; id?: string }
  version_detail: { version: string; release_date?: string; is_latest: boolean }
}

/** The same with packages and remotes; not the registry's `server.json` either. */
export interface ServerDetail extends ServerInfo {
  package_canonical?: string
  packages?: readonly object[]
  remotes?: readonly object[]
}

interface Described extends Publication {
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
    version_detail: present<ServerInfo['version_detail']>({
      version,
      release_date: releaseDate,
      is_latest: isLatest,
    }),
  })
}

export function describeServerDetail(server: Described): ServerDetail {
  const { packageCanonical, packages, remotes } = server
  const detail = present({ package_canonical: packageCanonical, packages, remotes })
  return { ...describeServer(server), ...(detail as Partial<ServerDetail>) }
}
