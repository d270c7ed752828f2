/** The clients of `mayfly check --as`, in the order of the report. */
import { chatgpt } from './chatgpt.ts'
import { claude } from './claude.ts'
import { cursor } from './cursor.ts'
import type { Profile } from './profile.ts'
import { vscode } from './vscode.ts'

export const CLIENTS: readonly Profile[] = [claude, chatgpt, vscode, cursor]
