import pc from 'picocolors';

// Colours are only for terminals, because programs read piped output. https://no-color.org
const { FORCE_COLOR, NO_COLOR } = process.env;
const wanted = FORCE_COLOR ? FORCE_COLOR !== '0' : process.stdout.isTTY && process.stderr.isTTY;

export const colours = pc.createColors(wanted && !NO_COLOR);
