/** The used parts of workerd's Durable Objects; inlined, so that the types need no platform package. */

/** A Durable Object binding. */
export interface DurableObjectNamespace {
  idFromName(name: string): unknown
  get(id: never): { fetch(url: string, init?: RequestInit): Promise<Response> }
}

/** The state that workerd passes to a Durable Object: its WebSockets that hibernate. */
export interface SocketState {
  acceptWebSocket(socket: WebSocket): void
  getWebSockets(): WebSocket[]
  setWebSocketAutoResponse(pair: object): void
}

/** The end of a WebSocket that a Worker holds. */
export interface WorkerSocket extends WebSocket {
  accept(): void
}

type SqlValue = string | number | null

/** The state that workerd passes to a Durable Object: its SQLite storage. */
export interface StorageState {
  readonly storage: ObjectStorage
}

export interface ObjectStorage {
  get<Value>(key: string): Promise<Value | undefined>
  put(key: string, value: unknown): Promise<void>
  deleteAll(): Promise<void>
  getAlarm(): Promise<number | null>
  setAlarm(at: number): Promise<void>
  deleteAlarm(): Promise<void>
  /** All writes of `work` are made, or none. */
  transactionSync<Result>(work: () => Result): Result
  readonly sql: {
    exec(query: string, ...values: SqlValue[]): { toArray(): { readonly [column: string]: SqlValue }[] }
  }
}
