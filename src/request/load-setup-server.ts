/** Loads what `setup` changes. */
import type * as setupServer from './setup-server.ts'

export const loadSetupServer = (): Promise<typeof setupServer> => import('./setup-server.ts')
