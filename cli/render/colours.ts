import pc from 'picocolors';

// By themselves only on a terminal: what is piped, in a CI too, is read by programs. https://no-color.org
const { FORCE_COLOR, NO_COLOR } = process.env;
const wanted = FORCE_COLOR ? FORCE_COLOR !== '0' : process.stdout.isTTY && process.stderr.isTTY;

export const colours = pc.createColors(wanted && !NO_COLOR);
