/** Asks the URL once, within the limits of a client's document, and prints what came of it and the memory that it took. */
import { boundedFetch, type FetchFault } from '../../../../src/definition/bounded-fetch.ts'

const reason = await boundedFetch(process.argv[2]!, {}, { timeoutMs: 20_000, maxBytes: 5120 }).then(
  ({ text }) => `${text.length} characters`,
  (error: FetchFault) => error.reason,
)
const peakMb = Math.round(process.resourceUsage().maxRSS / 1024)
process.stdout.write(JSON.stringify({ reason, peakMb, node: process.versions.node }))
