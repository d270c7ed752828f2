/** The location of a protected resource's metadata (RFC 9728 §3.1). */
import type { ResourceLocation } from './auth.ts'

export const METADATA_PATH = '/.well-known/oauth-protected-resource'

/** Whether a path is that of a resource's metadata. */
export function isMetadataPath(path: string): boolean {
  return path === METADATA_PATH || path.startsWith(`${METADATA_PATH}/`)
}

/** The location of a resource that its operator configured. */
export function locationOf(resource: string): ResourceLocation {
  const { origin, pathname } = new URL(resource)
  const metadataUrl = origin + METADATA_PATH + (pathname === '/' ? '' : pathname)
  return { resource, isVouchedFor: true, metadataUrl }
}
