/** The streams of changes of a server, whose code is loaded with the first of them. */
import { part } from '../definition/part.ts'
import type { EngineOptions } from './engine-options.ts'
import type { Listen } from './listen.ts'
import { loadListen } from './load-listen.ts'

export function createListenLater(options: EngineOptions): Listen {
  let listen: Listen | undefined
  let closings = 0
  const open = async <Opened>(use: (listen: Listen) => Opened | Promise<Opened>): Promise<Opened> => {
    const closingsBefore = closings
    const { createListen } = await part(loadListen)
    listen ??= createListen(options)
    const reply = await use(listen)
    // The server was closed meanwhile, and this stream would stay.
    if (closings > closingsBefore) listen.close()
    return reply
  }
  return {
    serve: (call, incoming) =>
      listen === undefined ? open((one) => one.serve(call, incoming)) : listen.serve(call, incoming),
    open: (...stream) => (listen === undefined ? open((one) => one.open(...stream)) : listen.open(...stream)),
    reserve: (...place) => open((one) => one.reserve(...place)),
    close() {
      closings++
      listen?.close()
    },
  }
}
