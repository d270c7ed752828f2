/** One of the servers under comparison. */
export interface Peer {
  readonly name: string
  fetch(request: Request): Promise<Response>
  /** What the server's owner does when something changed. */
  readonly publish: {
    toolsListChanged(): void | Promise<void>
    promptsListChanged(): void | Promise<void>
    resourcesListChanged(): void | Promise<void>
    resourceUpdated(uri: string): void | Promise<void>
  }
}
