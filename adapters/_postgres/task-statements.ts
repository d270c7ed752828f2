/** The statements of a task store, each of which is one operation. */

/** Maximum rows that one statement deletes. */
export const PURGED_AT_ONCE = 1000

/** Rows that one page of `list` looks at. */
export const SEEN_AT_ONCE = 1000

const COLUMNS = 'id, owner, version, is_open, due_at, expires_at, state, server'

/** The statements, once the table is known. */
export function createStatements(table: () => string): () => ReturnType<typeof toStatements> {
  let statements: ReturnType<typeof toStatements> | undefined
  return () => {
    statements ??= toStatements(table())
    return statements
  }
}

function toStatements(table: string) {
  const unexpired = (now: string): string => `(expires_at IS NULL OR expires_at > ${now}::text::bigint)`
  const dueOf = (whose: string, more = ''): string =>
    `SELECT id, owner, due_at FROM ${table} WHERE ${whose} AND is_open AND due_at <= $1::text::bigint AND ${unexpired('$1')}
${more} ORDER BY due_at LIMIT $2::text::bigint`
  const bothParts = (more?: string): string =>
    `(${dueOf('server = $3::text', more)}) UNION ALL (${dueOf('server IS NULL', more)})`
  const values = `$1::text, $2::text, $3::text::bigint, $4::text::boolean, $5::text::bigint, $6::text::bigint, $7::text, $8::text`
  return {
    create: `SELECT ${table}_create(${values}, $9::text::bigint, $10::text::bigint) AS result`,
    read: `SELECT ${COLUMNS} FROM ${table} WHERE id = $1::text AND ${unexpired('$2')}`,
    replace: `UPDATE ${table} SET (id, owner, version, is_open, due_at, expires_at, state, server) = (${values})
WHERE id = $1::text AND version = $3::text::bigint - 1 AND ${unexpired('$9')} RETURNING id`,
    // Without locks, which would end with the statement. If two processes run one task, the version stops one of them.
    due: `SELECT id, owner, due_at FROM ${table} WHERE is_open AND due_at <= $1::text::bigint AND ${unexpired('$1')}
ORDER BY due_at LIMIT $2::text::bigint`,
    // Both parts are read in the order of the index.
    dueOf: `${bothParts('AND owner NOT IN (SELECT json_array_elements_text($4::text::json))')} ORDER BY due_at LIMIT $2::text::bigint`,
    stats: `SELECT count(*)::text AS due, min(due_at)::text AS oldest FROM (${bothParts()}) AS due_tasks`,
    // Of many tasks of other servers, a page looks at a bounded number.
    list: `WITH seen AS (
  SELECT id, ($1::text IS NULL OR server IS NULL OR server = $1::text) AND ${unexpired('$4')} AS is_own
  FROM ${table} WHERE id > $2::text ORDER BY id LIMIT ${SEEN_AT_ONCE}
), own AS (SELECT id AS own_id FROM seen WHERE is_own ORDER BY id LIMIT $3::text::bigint)
SELECT ${COLUMNS}, last_seen, seen FROM (SELECT max(id) AS last_seen, count(*)::text AS seen FROM seen) AS total
LEFT JOIN (own JOIN ${table} ON id = own_id) ON true ORDER BY id`,
    // Concurrent deletions take different rows.
    purge: `DELETE FROM ${table} WHERE id = ANY(ARRAY(
  SELECT id FROM ${table} WHERE expires_at <= $1::text::bigint LIMIT ${PURGED_AT_ONCE} FOR UPDATE SKIP LOCKED
)) RETURNING id`,
  }
}
