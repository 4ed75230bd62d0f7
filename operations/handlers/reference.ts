import { renderOpenApi } from '../../schema/api/openapi.ts';
import { apiRoutes, apiShapes } from '../../schema/api/routes.ts';
import { isStandardWebhooks, schemes } from '../../signatures/schemes.ts';
import { summariseScheme } from '../../signatures/summary.ts';
import type { HandlersOf } from './handler.ts';

/** Handles requests for the API's own document, and for the signature schemes. */
export const referenceHandlers: HandlersOf<'reference'> = {
  describeApi: () => ({ body: renderOpenApi(apiRoutes, apiShapes) }),
  listSchemes: (_, { query }) => ({ body: { schemes: listSchemes(query.id) } }),
};

/** Lists the signature schemes, or one of them, with what somebody needs who sets up a provider. */
function listSchemes(wanted: string | undefined) {
  return schemes
    .filter(({ id }) => wanted === undefined || id === wanted)
    .map(scheme => {
      const { id, provider, kind, page, secretLocation, secretCommand, checked } = scheme;
      const blankSecret: 'generated' | 'declared' = isStandardWebhooks(scheme) ? 'generated' : 'declared';
      const summary = summariseScheme(scheme);
      return { id, provider, kind, page, secretLocation, secretCommand, blankSecret, checked, summary };
    });
}
