/** The ports of `hookmill serve`, unless settings choose others. */
export const defaultPorts = { ingress: 8080, management: 8081 } as const;
