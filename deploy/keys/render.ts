/** API keys as text. Names come from other people: each value is escaped. */
import { describeAudience } from '../../src/keys/audience.ts'
import type { KeyInfo } from '../../src/keys.ts'
import { printable } from '../terminal/cli-error.ts'
import { alignColumns, stylesFor } from '../terminal/styles.ts'
import { isActive } from './request.ts'

/** A row is one line, so that it can be searched. */
const TABLE = { indent: 0, width: Number.POSITIVE_INFINITY }

export function renderKeys(keys: readonly KeyInfo[]): string {
  if (keys.length === 0) return 'no keys\n'
  const rows = keys.map((key) => [
    `mk_${key.id}`,
    printable(key.owner === undefined || key.owner === key.name ? key.name : `${key.name} (${key.owner})`),
    statusOf(key),
    printable(key.scopes.join(' ')) || '-',
    dayOf(key.createdAt) ?? '-',
    dayOf(key.expiresAt) ?? 'never',
    dayOf(key.lastUsedAt) ?? '-',
    printable(describeAudience(key)) || 'no server: not accepted',
  ])
  const header = ['key', 'name', 'status', 'scopes', 'created', 'expires', 'last used', 'for']
  return `${alignColumns([header.map(stylesFor().heading), ...rows], TABLE)}\n`
}

function statusOf(key: KeyInfo): string {
  if (key.revokedAt !== undefined) return 'revoked'
  return isActive(key) ? 'active' : 'expired'
}

function dayOf(at: number | undefined): string | undefined {
  if (at === undefined || at === 0) return undefined
  return at < 8.64e15 ? new Date(at).toISOString().slice(0, 10) : String(at)
}
