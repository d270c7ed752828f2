/**
 * The prompts the conformance suite gets.
 */
import { createPrompt } from 'mayfly-mcp'
import * as z from 'zod'
import { askingPrompt } from './asking.ts'
import { PNG } from './media.ts'

export const prompts = {
  test_simple_prompt: createPrompt({
    title: 'Simple Test Prompt',
    description: 'A simple prompt without arguments',
    get: () => 'This is a simple prompt for testing.',
  }),
  test_prompt_with_arguments: createPrompt({
    title: 'Prompt With Arguments',
    description: 'A prompt with required arguments',
    argsSchema: z.object({
      arg1: z.string().describe('First test argument'),
      arg2: z.string().describe('Second test argument'),
    }),
    complete: { arg1: (value) => ['paris', 'park', 'party'].filter((word) => word.startsWith(value)) },
    get: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  }),
  test_prompt_with_embedded_resource: createPrompt({
    title: 'Prompt With Embedded Resource',
    description: 'A prompt that includes an embedded resource',
    argsSchema: z.object({ resourceUri: z.string().describe('URI of the resource to embed') }),
    get: ({ resourceUri: uri }) => [
      {
        role: 'user',
        content: {
          type: 'resource',
          resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        },
      },
      { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } },
    ],
  }),
  test_prompt_with_image: createPrompt({
    title: 'Prompt With Image',
    description: 'A prompt that includes image content',
    get: () => [
      { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
      { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } },
    ],
  }),
  test_input_required_result_prompt: askingPrompt,
}
