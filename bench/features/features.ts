/**
 * What servers offer beside the echo tools: a resource, a prompt, the tool `progress`, which reports progress 1 of 2 and returns `done`,
 * and the tool `ask`, which asks for a boolean `ok` and returns what the user did.
 */

export const RESOURCE = {
  uri: 'bench://readme',
  name: 'readme',
  mimeType: 'text/plain',
  text: 'The quick brown fox jumps over the lazy dog',
} as const

export const PROMPT = {
  name: 'greet',
  description: 'Greets somebody',
  textFor: (name: string): string => `Say hello to ${name}`,
} as const

export const QUESTION = 'Go on?'

/** Who makes the tokens of the case `jwt`, and for whom. */
export const ISSUER = 'https://login.example.com'
export const AUDIENCE = 'https://mcp.example.com/mcp'
