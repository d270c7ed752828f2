/** The schema of answers that are validated here, not by the official client. */
import type { StandardSchemaV1 } from '@modelcontextprotocol/client'

export const ANYTHING: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'mayfly-mcp', validate: (value) => ({ value }) },
}
