import { ADDRESS_VALID_MINUTES } from '../files/download-address';
import { Param } from './fields';

/** Query of a download that an object store may send itself. */
export class DownloadQuery {
  @Param.boolean({
    default: false,
    description:
      `true answers 307 with a signed address, at which the object store sends the file to each client for ${ADDRESS_VALID_MINUTES} minutes; ` +
      'a directory is sent as without it, and so is a file of a store that signs no addresses',
  })
  redirect: boolean = false;
}
