# A formula for a tap of your own; never run by us, as there was no Mac. `make release` prints the archive's sha256.
class KokoroLive < Formula
  desc "Speech server for your own machine, with OpenAI's API and Kokoro-82M"
  homepage "https://huggingface.co/hexgrad/Kokoro-82M"
  # The archive that `make dist` writes: put it where your Macs can fetch it, and its address and sha256 here.
  url "file:///usr/local/share/kokoro_live-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "python@3.13"

  # Wheels from the package index, as everywhere else: building onnxruntime from source takes an hour.
  def install
    system Formula["python@3.13"].opt_bin/"python3.13", "-m", "venv", libexec
    system libexec/"bin/python", "-m", "pip", "install", "#{buildpath}[model]"
    (libexec/"installed-as").write "Homebrew formula\n"
    bin.install_symlink libexec/"bin/kokoro-live"
  end

  service do
    run [opt_bin/"kokoro-live", "serve"]
    keep_alive crashed: true
    process_type :interactive
    log_path var/"log/kokoro-live.log"
    error_log_path var/"log/kokoro-live.log"
  end

  test do
    system bin/"kokoro-live", "say", "Hello.", "--engine", "espeak", "-o", testpath/"hello.wav"
    assert_path_exists testpath/"hello.wav"
  end
end
