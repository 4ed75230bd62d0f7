import { callApi } from '../api-client.ts';
import { useLoad } from './use-load.ts';

/** The signature schemes that the daemon knows. */
export function useSchemes() {
  return useLoad(async signal => (await callApi('get', '/schemes', { signal })).schemes, []);
}
