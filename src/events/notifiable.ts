/** What an `MCPServer` offers for each of its lists: telling clients of changes. */
import type { ChangeEvent } from './bus.ts'

interface Notifiable {
  /** Tells clients that listen that the list has changed. Without a bus, only sessions of this process are told. Never rejects: faults are reported. */
  notifyListChanged(): Promise<void>
}

export interface NotifiableLists {
  readonly tools: Notifiable
  readonly prompts: Notifiable
  readonly resources: Notifiable & {
    /** Tells clients that subscribed to `uri` that it has changed. */
    notifyUpdated(change: { uri: string }): Promise<void>
  }
}

export function createNotifiable(publish: (event: ChangeEvent) => Promise<void>): NotifiableLists {
  return {
    tools: { notifyListChanged: () => publish({ type: 'toolsListChanged' }) },
    prompts: { notifyListChanged: () => publish({ type: 'promptsListChanged' }) },
    resources: {
      notifyListChanged: () => publish({ type: 'resourcesListChanged' }),
      notifyUpdated: ({ uri }) => publish({ type: 'resourceUpdated', uri }),
    },
  }
}
