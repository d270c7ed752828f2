/** A process that serves our server on stdio, and tells its parent what happens. Its argument is how it is guarded. */
import { startStdio } from '../../adapters/node.ts'
import { createOurs, type Guarded } from './_ours.ts'
import { type Failure, Probe } from './_probe.ts'

const probe = new Probe()
for (const list of ['happened', 'audit', 'log', 'reports'] as const) {
  const items: unknown[] = probe[list]
  items.push = (...added) => {
    process.send?.({ list, added })
    return Array.prototype.push.apply(items, added)
  }
}
process.on('message', ({ release, failure }: { release?: true; failure?: Failure }) => {
  probe.failure = failure
  if (release) probe.release()
})
// The parent may only end the process by closing stdin.
process.channel?.unref()

await startStdio(createOurs(probe, JSON.parse(process.argv[2] ?? '{}') as Guarded))
