/** Release of the API's specification that the service follows. The version of the service is separate. */
export const API_RELEASE = '2.10.1';
