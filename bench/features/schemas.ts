/** In a file of their own: the floor brings no schema library into its bundle. */
import * as z from 'zod'

export const form = z.object({ ok: z.boolean() })

export const promptArguments = z.object({ name: z.string() })
