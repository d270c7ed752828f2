/** `subscriptions/listen` with a bus, and what its streams deliver. */
import { type Changes, modern } from './_entry.ts'

const listen = (id: string, notifications: unknown, changes: Changes = {}) =>
  modern(`listen ${id}`, 'subscriptions/listen', { notifications }, changes)

const ACKNOWLEDGED = { reads: 1 }

export const listenCorpus = [
  listen('to tools', { toolsListChanged: true }, { reads: 2, publishes: [['toolsListChanged', '']] }),
  listen('to prompts', { promptsListChanged: true }, { reads: 2, publishes: [['promptsListChanged', '']] }),
  listen(
    'to resources',
    { resourcesListChanged: true },
    { reads: 2, publishes: [['resourcesListChanged', '']] },
  ),
  listen(
    'to one resource',
    { resourceSubscriptions: ['doc://readme'] },
    {
      reads: 2,
      publishes: [['resourceUpdated', 'doc://readme']],
    },
  ),
  listen(
    'to one resource, another changes first',
    { resourceSubscriptions: ['doc://readme'] },
    {
      reads: 2,
      publishes: [
        ['resourceUpdated', 'doc://logo'],
        ['toolsListChanged', ''],
        ['resourceUpdated', 'doc://readme'],
      ],
    },
  ),
  listen(
    'to everything',
    {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['doc://readme', 'doc://logo'],
    },
    {
      reads: 4,
      publishes: [
        ['toolsListChanged', ''],
        ['promptsListChanged', ''],
        ['resourceUpdated', 'doc://logo'],
      ],
    },
  ),
  listen(
    'under a string id',
    { toolsListChanged: true },
    {
      rpcId: 'listening',
      reads: 2,
      publishes: [['toolsListChanged', '']],
    },
  ),
  listen('to an unknown uri', { resourceSubscriptions: ['nope://nope'] }, ACKNOWLEDGED),
  listen(
    'to tools, told false for the rest',
    { toolsListChanged: true, promptsListChanged: false },
    ACKNOWLEDGED,
  ),
  listen('to unknown kinds and tools', { toolsListChanged: true, weatherChanged: true }, ACKNOWLEDGED),
  listen('to the same uri twice', { resourceSubscriptions: ['doc://logo', 'doc://logo'] }, ACKNOWLEDGED),
  listen('to nothing', {}, ACKNOWLEDGED),
  listen('to false', { toolsListChanged: false }, ACKNOWLEDGED),
  listen('to no uris', { resourceSubscriptions: [] }, ACKNOWLEDGED),
  listen('to unknown kinds alone', { weatherChanged: true }, ACKNOWLEDGED),
  listen('without a filter', undefined),
  listen('to a string', 'tools'),
  listen('to an array', ['tools']),
  listen('to null', null),
  listen('to a flag that is a string', { toolsListChanged: 'yes' }),
  listen('to uris that are no list', { resourceSubscriptions: 'doc://readme' }),
  listen('to uris that are numbers', { resourceSubscriptions: [1] }),
  listen(
    'with JSON alone accepted',
    { toolsListChanged: true },
    { headers: { accept: 'application/json' }, ...ACKNOWLEDGED },
  ),
  listen('without Mcp-Method', { toolsListChanged: true }, { headers: { 'mcp-method': undefined } }),
]
