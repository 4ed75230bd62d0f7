/** A provider that people ask for and that is not shipped. */
export interface LeftOut {
  readonly providers: string;
  readonly reason: string;
}

/** Why each is missing, so that nobody has to find out again. */
export const leftOut: readonly LeftOut[] = [
  {
    providers: 'GitHub (SHA-1), HubSpot (v1, v2), Meta (SHA-1)',
    reason: "the provider's older scheme; its newer one is shipped",
  },
  {
    providers: 'Twilio',
    reason: 'posts forms, and a delivery is JSON',
  },
  {
    providers: 'Mailgun',
    reason:
      'signs a timestamp and a token but not the event, so that whoever sees one request can write any other; use url_token',
  },
  {
    providers: 'Adyen (standard payment webhooks)',
    reason:
      'signs eight fields of each item, inside the body, and leaves the rest open; use url_token, or adyen-platform for the newer webhooks',
  },
  {
    providers: 'Figma',
    reason:
      'sends its passcode in the body, which would put the secret into the delivery log and before the agent; use url_token',
  },
  {
    providers: 'PayPal',
    reason:
      'needs a certificate fetched from an address that the request names, and covers the body by a CRC-32',
  },
  {
    providers: 'Coinbase (CDP webhooks)',
    reason:
      'signs headers that the signature itself lists; no vectors from outside were found to prove it against',
  },
  {
    providers: 'Fly.io extensions',
    reason: 'for partners who provision, and its page does not say how the signature is encoded',
  },
  {
    providers: 'Airtable, FireHydrant, Intercom, Netlify',
    reason:
      'only third parties describe the scheme; an object in the definition file can (except for Netlify, whose signature is a JWS)',
  },
  {
    providers: 'Datadog, New Relic, Opsgenie, Postmark',
    reason: 'do not sign, but can send a header: use token with Authorization: Bearer …',
  },
  {
    providers: 'Bugsnag, Honeybadger, Railway, Rollbar, Statuspage',
    reason: 'do not sign: use url_token',
  },
];
