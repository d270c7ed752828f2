/** Installs what the newcomer's npm is to find beside the repository's own packages, where it is not there yet. */
import '../runtimes/_install.ts'
import { installPackages } from '../../scripts/install-package.ts'

await installPackages([import.meta.dirname])
