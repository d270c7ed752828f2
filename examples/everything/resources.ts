/**
 * The resources the conformance suite reads.
 */
import { createResource } from 'mayfly-mcp'
import { PNG } from './media.ts'

export const resources = [
  createResource({
    uri: 'test://static-text',
    name: 'Static Text Resource',
    description: 'A static text resource',
    mimeType: 'text/plain',
    read: () => 'This is the content of the static text resource.',
  }),
  createResource({
    uri: 'test://static-binary',
    name: 'Static Binary Resource',
    description: 'A static image',
    mimeType: 'image/png',
    read: () => ({ blob: PNG }),
  }),
  createResource({
    uriTemplate: 'test://template/{id}/data',
    name: 'Resource Template',
    description: 'Data by id',
    mimeType: 'application/json',
    complete: { id: (value) => ['123', '456'].filter((id) => id.startsWith(value)) },
    read: ({ variables: { id } }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  }),
  createResource({
    uri: 'test://watched-resource',
    name: 'Watched Resource',
    description: 'A resource to subscribe to',
    mimeType: 'text/plain',
    read: () => 'Watched resource content',
  }),
]
