/** Providers that people ask for but whose scheme is not supported. */
export interface LeftOut {
  readonly providers: string;
  /** The reason why it is not supported, and the alternative if there is one. */
  readonly reason: string;
}

export const leftOut: readonly LeftOut[] = [
  {
    providers: 'GitHub (SHA-1), HubSpot (v1, v2), Meta (SHA-1), Nango (X-Nango-Signature)',
    reason: "These are the providers' older schemes. The newer ones are supported.",
  },
  {
    providers: 'Mailgun',
    reason:
      'The signature covers a timestamp and a token but not the event, so anyone who sees one request can forge others. Use url_token.',
  },
  {
    providers: 'Adyen (standard payment webhooks)',
    reason:
      'The signature is inside the body and covers only eight fields of each item. Use url_token, or adyen-platform for the newer webhooks.',
  },
  {
    providers: 'Figma',
    reason:
      'Figma sends its passcode in the body, so the delivery log and the agent would see the secret. Use url_token.',
  },
  {
    providers: 'Mercado Pago',
    reason:
      'The signature covers the ID of a resource and a time, but not the body, so anyone who sees one request can forge others. Use url_token.',
  },
  {
    providers: 'Cloudinary',
    reason:
      'The signature is a plain hash of the body and the secret, not an HMAC: its form is open to length extension. Use url_token.',
  },
  {
    providers: 'Wise',
    reason:
      'One published key signs for all receivers, so a delivery to another account passes as one to yours. Use url_token.',
  },
  {
    providers: 'Hygraph',
    reason:
      'The signature covers the body as a string inside another JSON document. No template describes it.',
  },
  {
    providers: 'Stream (GetStream), Quicknode Streams',
    reason:
      'With compression on, the signature covers bytes that the request does not carry. With it off, describe the scheme in the definition.',
  },
  {
    providers: 'Smartcar, Spacelift, Unit',
    reason:
      'No source was found for a part of the scheme: the challenge, the form of the signature, or the name of the header.',
  },
  {
    providers: 'Front (application webhooks)',
    reason:
      'They ask a question before they deliver, which hookmill cannot answer. Use front-rule for rule webhooks.',
  },
  {
    providers: 'PayPal',
    reason:
      'Verification requires a certificate from an address in the request, and covers the body only by a CRC-32.',
  },
  {
    providers: 'Coinbase (CDP webhooks)',
    reason:
      'The signature lists the headers that it covers, and no independent test vectors were found to check an implementation.',
  },
  {
    providers: 'Fly.io extensions',
    reason:
      'They are for provisioning partners, and the documentation does not give the encoding of the signature.',
  },
  {
    providers: 'Airtable, FireHydrant, Intercom, Netlify',
    reason:
      'Only third parties document the scheme. Describe it in the definition; this is not possible for Netlify, whose signature is a JWS.',
  },
  {
    providers: 'Datadog, New Relic, Opsgenie, Postmark',
    reason: 'They do not sign, but can send a header. Use token with Authorization: Bearer …',
  },
  {
    providers: 'Bugsnag, Honeybadger, Railway, Rollbar, Statuspage',
    reason: 'They do not sign. Use url_token.',
  },
];
