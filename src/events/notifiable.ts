/** What an `MCPServer` offers for each of its lists: notifying clients of changes. */
import type { ChangeEvent } from './bus.ts'

interface Notifiable {
  /** Notifies listening clients that the list has changed; without a bus, only sessions of this process. Never rejects. */
  notifyListChanged(): Promise<void>
}

export interface NotifiableLists {
  readonly tools: Notifiable
  readonly prompts: Notifiable
  readonly resources: Notifiable & {
    /** Notifies clients that subscribed to `uri` that it has changed. @throws TypeError without a URI, and for one of about a megabyte. */
    notifyUpdated(change: { uri: string }): Promise<void>
  }
}

export function createNotifiable(publish: (event: ChangeEvent) => Promise<void>): NotifiableLists {
  return {
    tools: { notifyListChanged: () => publish({ type: 'toolsListChanged' }) },
    prompts: { notifyListChanged: () => publish({ type: 'promptsListChanged' }) },
    resources: {
      notifyListChanged: () => publish({ type: 'resourcesListChanged' }),
      notifyUpdated(change) {
        if (typeof change?.uri !== 'string')
          throw new TypeError('notifyUpdated takes { uri }, the URI as text.')
        return publish({ type: 'resourceUpdated', uri: change.uri })
      },
    },
  }
}
