/** Where the module is that local servers load first. */
import { ownModule } from '../project/own-module.ts'

export const WATCHER: string = ownModule('deploy/run/watch-repeated-work')
