/** The path of the dashboard to which a provider sends browsers back, after people have signed in there. */
export const signInPath = '/sign-in';
